"""Bots of OpenSpiel in matches of checkers. Needs the package `open_spiel`."""

from __future__ import annotations

from .seated import Seated
from .translation import legal_moves

__all__ = ["Seated", "legal_moves"]
