"""The benchmark of the environments."""

from __future__ import annotations

import unittest
from unittest.mock import Mock

from . import environments  # noqa: F401  # skips the tests where packages are missing

# isort: split
import numpy as np
from bench_env import pick


class Pick(unittest.TestCase):
    MASKS = np.array([[0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 1]], np.int8)

    def test_a_random_number_of_0_gives_a_possible_action(self) -> None:
        rng = Mock(random=np.zeros)
        self.assertEqual(pick(rng, self.MASKS).tolist(), [2, 0, 1])

    def test_the_largest_random_number_gives_a_possible_action(self) -> None:
        rng = Mock(random=lambda size: np.full(size, np.nextafter(1, 0)))
        self.assertEqual(pick(rng, self.MASKS).tolist(), [2, 3, 3])

    def test_all_possible_actions_are_equally_likely(self) -> None:
        picked = pick(np.random.default_rng(1), np.tile(self.MASKS, (1000, 1)))
        counts = np.bincount(picked[1::3], minlength=4)
        self.assertTrue((counts > 200).all(), counts)
