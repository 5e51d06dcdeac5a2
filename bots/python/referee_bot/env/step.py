"""What a batch shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Step(NamedTuple):
    """What all matches show, n of them. A match that ended in this step shows the beginning of the next one."""

    observation: NDArray[np.float32]
    """n observations of the seats that are asked."""
    action_mask: NDArray[np.int8]
    """n masks."""
    seat: NDArray[np.int64]
    """n numbers: the seats with an open request."""
    reward: NDArray[np.float32]
    """n rows, in each what the step brought to every seat: zeros unless the match ended."""
    terminated: NDArray[np.bool_]
    """n: whether the match ended by its rules."""
    truncated: NDArray[np.bool_]
    """n: whether it ended by the turn limit."""
    infos: Sequence[dict[str, Any]]
    """n: the contents of the requests, and `end` where a match ended."""
