"""Keezen: a move is two to four actions: a card, then its effect. Squares count from the viewer's start."""

from __future__ import annotations

from functools import partial

from ...messages import Json
from .encoding import Encoding, Observation, Word, Words, share

_CARDS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
_ENTER, _ENTER_PARTNER, _TRACK = 13, 14, 15


class Keezen(Encoding):
    game = "keezen"

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self._track = 96 if seats == 6 else 64
        self._homes = _TRACK + self._track
        self._steps = self._homes + 8
        self.actions = self._steps + 7
        # The pawns of each seat, cards by rank (own, partner's, pile), numbers of cards, dealer, whose pawns are
        # played, the deal, the actions chosen.
        self.shape = (seats * (self._track + 5) + 3 * 13 + 3 * seats + 3 + self.actions,)
        self.words = [Words(partial(self._spell, seat)) for seat in range(seats)]

    def _start(self, seat: int) -> int:
        return seat * self._track // self.seats

    def _at(self, pawn: str, seat: int) -> int:
        """Returns the action that names the pawn by its position."""
        if pawn[0] == "t":
            return _TRACK + (int(pawn[1:]) - self._start(seat)) % self._track
        owner, square = pawn[1:].split(".")
        return self._homes + (0 if int(owner) == seat else 4) + int(square)

    def _spell(self, seat: int, move: str) -> Word:
        card, *rest = move.split(" ")
        first = _CARDS.index(card)
        if rest[0] == "enter":
            return (first, _ENTER if len(rest) == 1 else _ENTER_PARTNER)
        pawn = self._at(rest[0], seat)
        if card == "J":
            return (first, pawn, self._at(rest[1], seat))
        if card != "7":
            return (first, pawn)
        if len(rest) == 1:
            return (first, pawn, self._steps + 6)
        return (first, pawn, self._steps + int(rest[1]) - 1, self._at(rest[2], seat))

    def write(self, out: Observation, view: Json, seat: int, chosen: Word) -> None:
        seats, track = self.seats, self._track
        order = [(seat + turn) % seats for turn in range(seats)]
        at = 0
        for owner in order:
            for pawn in view["pawns"][owner]:
                if pawn == "base":
                    out[at] += 1 / 4
                elif pawn[0] == "t":
                    out[at + 1 + (int(pawn[1:]) - self._start(seat)) % track] = 1
                else:
                    out[at + 1 + track + int(pawn[-1])] = 1
            at += track + 5
        partner = view["hands"].get(str(order[seats // 2]), ()) if seats > 2 else ()
        for cards, most in ((view["hand"], 5), (partner, 5), (view["pile"], seats)):
            for card in cards:
                out[at + _CARDS.index(card)] += 1
            out[at : at + 13] /= most
            at += 13
        for turn, owner in enumerate(order):
            out[at + turn] = share(view["cards"][owner], 5)
            out[at + seats + turn] = owner == view["dealer"]
            out[at + 2 * seats + turn] = owner == view["playing_for"]
        at += 3 * seats
        out[at + view["deal"]] = 1
        at += 3
        for action in chosen:
            out[at + action] = 1
