"""The render modes of the environments."""

from __future__ import annotations

from typing import Any, Union

import numpy as np
from gymnasium import error, logger
from numpy.typing import NDArray

from ..messages import Json
from .picture import picture

RENDERING: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}
"""What the metadata of an environment say about rendering."""

Frame = Union[str, NDArray[np.uint8], None]


def check_mode(mode: str | None) -> str | None:
    """Returns the render mode. Raises gymnasium.error.UnsupportedMode if there is no such mode."""
    if mode not in (None, *RENDERING["render_modes"]):
        modes = " and ".join(RENDERING["render_modes"])
        raise error.UnsupportedMode(f"{mode!r} is no render mode here: there are {modes}")
    return mode


def rendered(scene: Json | None, mode: str | None) -> Frame:
    """Returns a scene as text or as an array of (height, width, 3); None, with a warning, without a render mode.

    Raises gymnasium.error.ResetNeeded if there is no scene yet.
    """
    if mode is None:
        logger.warn("render() draws nothing: give the environment render_mode='ansi' or 'rgb_array' when it is made")
        return None
    if scene is None:
        raise error.ResetNeeded("render() before reset(): there is no position yet")
    return str(scene["text"]) if mode == "ansi" else picture(scene)
