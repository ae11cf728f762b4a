"""Ctrl-C at any line of a call: it is made or it is not, or the environment asks for a reset.

The keys are pressed by a trace function, so that every line is tried and none by chance.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from azumaya.envs import OptionError, raw
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.notation import read_records, replay
from azumaya.envs.registry import GAMES
from azumaya.wrappers import RecordGames, SingleAgentEnv

NAME = list(GAMES)[4]
FILES = ("raw_env.py", "single.py", "single_agent.py", "record.py")


class Press:
    """Raises `KeyboardInterrupt` at the n-th line of the library's Python that is run."""

    def __init__(self, line: int) -> None:
        self.left, self.pressed = line, False

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        """The trace function."""
        if not frame.f_code.co_filename.endswith(FILES):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                self.pressed = True
                raise KeyboardInterrupt
        return self


def interrupted(call: Callable[[], Any], line: int) -> bool:
    """Make a call, with Ctrl-C at a line; whether there was such a line."""
    press, before = Press(line), sys.gettrace()
    sys.settrace(press)
    try:
        call()
    except KeyboardInterrupt:
        assert press.pressed
    finally:
        sys.settrace(before)
    return press.pressed


def at_every_line(call: Callable[[], Any]) -> Iterator[int]:
    """Make a call with Ctrl-C at its first line, its second and so on, to the end; yields which."""
    line, pressed = 0, True
    while pressed:
        line += 1
        pressed = interrupted(call, line)
        yield line


def looks(env: RawEnv) -> tuple[Callable[[], Any], ...]:
    """The ways to look at an episode."""
    return (
        env.last, env.get_state, env.state, env.render,
        lambda: env.position, lambda: env.observe("player_0"),
    )  # fmt: skip


def check_whole(env: RawEnv) -> None:
    """What PettingZoo shows is the state of the game."""
    position, agent = env.position, env.agent_selection
    assert agent == f"player_{position.to_move}"
    assert env.terminations[agent] == position.is_terminated
    assert np.array_equal(env.infos[agent]["action_mask"], position.action_mask())
    seen = env.observe(agent)
    planes = seen["observation"] if isinstance(seen, dict) else seen
    assert np.array_equal(planes, position.observation(position.to_move))


@pytest.mark.parametrize("name", ["reset", "step", "set_state"])
def test_aec_environments(name: str) -> None:
    env = raw(NAME, render_mode="ansi")
    env.reset(seed=1)
    first = env.get_state()
    env.step(env.position.legal_actions()[0])
    later = env.get_state()
    calls = {
        "reset": lambda: env.reset(seed=2),
        "step": lambda: env.step(env.position.legal_actions()[0]),
        "set_state": lambda: env.set_state(first),
    }
    broken = []
    for _ in at_every_line(calls[name]):
        broken.append(not env.agents)
        if broken[-1]:
            for ask in (calls["step"], *looks(env)):
                with pytest.raises(ResetNeeded, match="the last call was interrupted; reset must"):
                    ask()
            env.reset(seed=1)
        check_whole(env)
        env.set_state(later)
        assert env.last()[1] == 0
    assert 5 < sum(broken) < len(broken)


def test_the_first_reset() -> None:
    """There is nothing to look at before a reset is complete."""
    env, broken = raw(NAME, render_mode="ansi"), []

    def reset() -> None:
        env.reset(seed=2)

    for _ in at_every_line(reset):
        broken.append(not env.agents)
        if broken[-1]:
            for ask in looks(env):
                with pytest.raises(ResetNeeded, match="reset must be called first"):
                    ask()
            assert not hasattr(env, "position")
            env.reset(seed=1)
        check_whole(env)
        env = raw(NAME, render_mode="ansi")
    assert 5 < sum(broken) < len(broken)


@pytest.mark.parametrize("name", ["reset", "step"])
def test_one_seat(name: str) -> None:
    env = SingleAgentEnv(NAME)
    env.reset(seed=1)

    def step() -> None:
        env.step(int(np.argmax(env.action_masks())))

    broken = []
    for _ in at_every_line({"reset": lambda: env.reset(seed=2), "step": step}[name]):
        broken.append(env._why_reset is not None)
        if broken[-1]:
            with pytest.raises(ResetNeeded, match="reset must be called first"):
                env.step(0)
        else:
            check_whole(env.env)
            assert env.env.agent_selection == f"player_{env.learner}"
        env.reset(seed=1)
    assert 5 < sum(broken) < len(broken)


def test_records_lack_no_move(tmp_path: Path) -> None:
    """A game with an interrupted move is recorded whole or not at all."""
    env = RecordGames(raw(NAME), tmp_path / "games.jsonl")
    env.reset(seed=0)
    for line in at_every_line(lambda: env.step(env.unwrapped.position.legal_actions()[0])):
        while any(env.agents) and not env.unwrapped.position.is_over:
            env.step(env.unwrapped.position.legal_actions()[-1])
        env.reset(seed=line)
    written = list(read_records(tmp_path / "games.jsonl"))
    assert 0 < len(written) < line
    for record in written:
        list(replay(record))


def test_a_refused_reset_keeps_the_record(tmp_path: Path) -> None:
    env = RecordGames(raw(NAME), tmp_path / "games.jsonl")
    env.reset(seed=1)
    env.step(env.unwrapped.position.legal_actions()[0])
    with pytest.raises(OptionError):
        env.reset(seed=-1)
    assert len(env.record().moves) == 1
