"""References measured in the same run: CartPole, the unit, and PettingZoo's Connect Four."""

from __future__ import annotations

import importlib
import random
import warnings
from typing import Any

from azumaya.benchmarks.games import AEC, SEED, play_aec
from azumaya.benchmarks.timing import measure

ACTIONS = 4000


def cartpole(seconds: float, repeats: int) -> dict[str, Any]:
    """The unit of comparison: Gymnasium's CartPole-v1 in a plain loop with prepared actions."""
    import gymnasium  # noqa: PLC0415 - only this row needs it

    rng = random.Random(SEED)
    actions = [rng.getrandbits(1) for _ in range(ACTIONS)]
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=SEED)

    def chunk() -> int:
        step, reset = env.step, env.reset
        for action in actions:
            _, _, terminated, truncated, _ = step(action)
            if terminated or truncated:
                reset()
        return ACTIONS

    rates = measure(chunk, seconds, repeats)
    env.close()
    return {**rates.fields(), "includes": "step(), reset() at the end; actions drawn beforehand"}


def connect_four(form: str, seconds: float, repeats: int) -> dict[str, Any]:
    """PettingZoo's connect_four_v3 in the same loop as our AEC environments."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the module form
            module = importlib.import_module("pettingzoo.classic.connect_four_v3")
            env = getattr(module, form)()
    except ImportError as error:
        return {"error": f"{error}: pip install 'pettingzoo[classic]' (or just pygame) provides it"}
    rng = random.Random(SEED)
    rates = measure(lambda: play_aec(env, rng), seconds, repeats)
    return {**rates.fields(), "includes": AEC}
