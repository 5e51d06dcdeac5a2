"""Draws scenes: positions as shapes, with coordinates in units. Texts are left out."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..messages import Json

PIXELS_PER_UNIT = 0.5

_Floats = NDArray[np.float32]


def picture(scene: Json) -> NDArray[np.uint8]:
    """Returns the picture of a scene: rows of pixels, each red, green and blue."""
    height, width = (math.ceil(scene[side] * PIXELS_PER_UNIT) for side in ("height", "width"))
    pixels = np.empty((height, width, 3), np.float32)
    pixels[...] = _colour(scene["background"])[0]
    for part in scene["parts"]:
        if part["form"] != "text":
            _draw(pixels, part)
    return pixels.round().astype(np.uint8)


def _colour(text: str) -> tuple[_Floats, float]:
    """Returns red, green and blue from 0 to 255, and the opacity from 0 to 1."""
    red, green, blue, *opacity = bytes.fromhex(text[1:])
    return np.array([red, green, blue], np.float32), opacity[0] / 255 if opacity else 1.0


def _draw(pixels: _Floats, part: Json) -> None:
    outline = part.get("outline", {"width": 0})
    margin = outline["width"] / 2 + 1 / PIXELS_PER_UNIT
    (left, top), (right, bottom) = _bounds(part)
    columns = _pixels(left - margin, right + margin, pixels.shape[1])
    rows = _pixels(top - margin, bottom + margin, pixels.shape[0])
    x = _centres(columns)
    y = _centres(rows)[:, None]
    distance = _distance(part, x, y)
    if "fill" in part:
        _paint(pixels[rows, columns], part["fill"], -distance)
    if "colour" in outline:
        _paint(pixels[rows, columns], outline["colour"], outline["width"] / 2 - abs(distance))


def _bounds(part: Json) -> tuple[tuple[float, float], tuple[float, float]]:
    """Returns the upper left and the lower right corner of a part without its outline."""
    if part["form"] == "polygon":
        xs, ys = zip(*part["points"])
        return (min(xs), min(ys)), (max(xs), max(ys))
    x, y = part["at"]
    if part["form"] == "circle":
        return (x - part["radius"], y - part["radius"]), (x + part["radius"], y + part["radius"])
    return (x, y), (x + part["width"], y + part["height"])


def _pixels(start: float, stop: float, count: int) -> slice:
    """Returns the pixels of a row or column, which has `count` of them, between two coordinates."""
    first = min(max(math.floor(start * PIXELS_PER_UNIT), 0), count)
    return slice(first, min(max(math.ceil(stop * PIXELS_PER_UNIT), first), count))


def _centres(pixels: slice) -> _Floats:
    """Returns the coordinates of the centres of these pixels of a row or column."""
    return ((np.arange(pixels.start, pixels.stop) + 0.5) / PIXELS_PER_UNIT).astype(np.float32)


def _paint(pixels: _Floats, text: str, depth: _Floats) -> None:
    """Mixes a colour into pixels whose centres lie this many units inside of a shape: those at its edge in part."""
    colour, opacity = _colour(text)
    coverage = np.clip(depth * PIXELS_PER_UNIT + 0.5, 0, 1)[..., None] * np.float32(opacity)
    pixels += coverage * (colour - pixels)


def _distance(part: Json, x: _Floats, y: _Floats) -> _Floats:
    """Returns the distances of points from the edge of a part; negative inside."""
    if part["form"] == "polygon":
        return _distance_from_polygon(part["points"], x, y)
    (left, top), (right, bottom) = _bounds(part)
    # A circle is a square with round corners.
    radius = part["radius"]
    dx = abs(x - (left + right) / 2) - (right - left) / 2 + radius
    dy = abs(y - (top + bottom) / 2) - (bottom - top) / 2 + radius
    outside = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0))
    distance: _Floats = outside + np.minimum(np.maximum(dx, dy), 0) - radius
    return distance


def _distance_from_polygon(points: list[list[int]], x: _Floats, y: _Floats) -> _Floats:
    nearest = np.full(np.broadcast_shapes(x.shape, y.shape), np.inf, np.float32)
    is_inside = np.zeros(nearest.shape, np.bool_)
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        dx, dy = x1 - x0, y1 - y0
        # How far along the side its nearest point lies.
        along = np.clip(((x - x0) * dx + (y - y0) * dy) / max(dx * dx + dy * dy, 1), 0, 1)
        nearest = np.minimum(nearest, np.hypot(x - x0 - along * dx, y - y0 - along * dy))
        if dy:
            # A ray to the right crosses an odd number of sides if it begins inside.
            is_inside ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * dx / dy)
    return np.where(is_inside, -nearest, nearest)
