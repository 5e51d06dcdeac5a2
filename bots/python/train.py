#!/usr/bin/env python3
"""Learns jeex against random moves: REINFORCE with a linear policy.

    python train.py [MATCHES]    # the default, 1000 matches, takes about half a minute on one core

Needs the extra `env` and `referee` on the PATH. It prints the mean reward of 200 more matches: 1 is a win, -1 a loss.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee_bot.env import SeatEnv

RATE = 0.03


def play(env: SeatEnv, weights: NDArray[Any], rng: np.random.Generator) -> tuple[float, NDArray[Any]]:
    """Plays a match. Returns its reward, and the gradient of the log-probability of its actions by the weights."""
    seen, _ = env.reset()
    gradient, reward, is_over = np.zeros_like(weights), 0.0, False
    while not is_over:
        inputs = seen["observation"].ravel()
        odds = np.exp(weights @ inputs) * seen["action_mask"]
        odds /= odds.sum()
        action = int(rng.choice(len(odds), p=odds))
        gradient -= np.outer(odds, inputs)
        gradient[action] += inputs
        seen, reward, terminated, truncated, _ = env.step(action)
        is_over = terminated or truncated
    return reward, gradient


env, rng = SeatEnv("jeex"), np.random.default_rng(1)
seen = env.reset(seed=1)[0]
weights = np.zeros((seen["action_mask"].size, seen["observation"].size))
usual = 0.0  # the moving average of the rewards
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
    reward, gradient = play(env, weights, rng)
    weights += RATE * (reward - usual) * gradient
    usual += 0.02 * (reward - usual)
rewards = [play(env, weights, rng)[0] for _ in range(200)]
env.close()
print(f"mean reward against random moves: {np.mean(rewards):+.2f}")
