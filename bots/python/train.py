#!/usr/bin/env python3
"""Learns jeex by playing against itself (REINFORCE with a linear policy), then plays against random moves.

    python train.py [STEPS]    # the default takes about ten seconds on one core

Needs the extra `env` and `referee` on the PATH. It prints the mean reward against random moves: 1 is a win, -1 a loss.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee_bot.env import Batch, Referee, Step

Array = NDArray[Any]
MATCHES, RATE = 16, 0.003
EACH = np.arange(MATCHES)


def inputs(step: Step) -> Array:
    return np.hstack([step.observation.reshape(MATCHES, -1), np.ones((MATCHES, 1), np.float32)])


def choose(logits: Array, step: Step, rng: np.random.Generator) -> Array:
    """Samples from the softmax of the possible actions (the Gumbel trick)."""
    noisy = np.where(step.action_mask, logits + rng.gumbel(size=logits.shape), -np.inf)
    actions: Array = noisy.argmax(axis=1)
    return actions


def learn(referee: Referee, steps: int) -> Array:
    """Returns the weights of a policy: a row per action, a column per input."""
    rng, batch = np.random.default_rng(1), Batch("jeex", MATCHES, referee=referee)
    step = batch.reset(seed=1)
    weights = np.zeros((step.action_mask.shape[1], inputs(step).shape[1]), np.float32)
    traces = np.zeros((MATCHES, batch.seats, *weights.shape), np.float32)  # the gradients since a match began
    for _ in range(steps):
        seen = inputs(step)
        logits = np.where(step.action_mask, seen @ weights.T, -np.inf)
        actions = choose(logits, step, rng)
        gradient = -np.exp(logits - logits.max(axis=1, keepdims=True))
        gradient /= -gradient.sum(axis=1, keepdims=True)
        gradient[EACH, actions] += 1
        traces[EACH, step.seat] += gradient[:, :, None] * seen[:, None, :]
        step = batch.step(actions)
        for match in np.flatnonzero(step.terminated | step.truncated):
            weights += RATE * np.tensordot(step.reward[match], traces[match], 1)
            traces[match] = 0
    return weights


def compare(referee: Referee, weights: Array, matches: int) -> float:
    """Returns the mean reward against random moves, with half of the matches in each seat."""
    rng, batch = np.random.default_rng(2), Batch("jeex", MATCHES, referee=referee)
    step, learner = batch.reset(seed=1_000_000), EACH % 2
    rewards: list[Any] = []
    while len(rewards) < matches:
        is_learner = (step.seat == learner)[:, None]
        step = batch.step(choose(np.where(is_learner, 10 * inputs(step) @ weights.T, 0), step, rng))
        rewards += [step.reward[match, learner[match]] for match in np.flatnonzero(step.terminated | step.truncated)]
    return float(np.mean(rewards))


if __name__ == "__main__":
    with Referee() as referee:
        weights = learn(referee, int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
        print(f"mean reward against random moves: {compare(referee, weights, 200):+.2f}")
