"""`azumaya check-game` finds what is wrong with a game, and says how."""

from __future__ import annotations

import dataclasses
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.cli import check_game as check_game_module
from azumaya.baselines.cli import contract
from azumaya.baselines.cli.check_game import games_of
from azumaya.baselines.cli.findings import check_game
from azumaya.benchmarks.yardstick import connect_four
from azumaya.envs import registry
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.symmetries import Axis, Content, Moved
from tests.cases import YARDSTICK
from tests.commands import azumaya, refused
from tests.processes import python

NEARLY_FULL = "oooxxx./xxxooo./oooxxx./xxxooo./oooxxx./xxxooo. x"


def faulty(**parts: Mapping[str, Any]) -> Game:
    """The yardstick with some fields of its parts replaced."""
    changed = {
        part: dataclasses.replace(getattr(YARDSTICK, part), **fields)
        for part, fields in parts.items()
    }
    return dataclasses.replace(YARDSTICK, **changed)


def broken(game: Game, **options: Any) -> dict[str, str]:
    """The laws that a game breaks, and how."""
    return {law: why for law, why, _ in check_game(game, options, games=1) if why}


@kernel
def all_columns(state, packed):
    """A mask that allows full columns, too."""
    if not state.over:
        packed[0] = connect_four.TOP


@kernel
def other_start(states, i, starts, key):
    """Episodes that the seed does not determine."""
    states[i] = starts[0]
    states[i].payoff = np.random.randint(1, 1 << 30)


@kernel
def pass_on(state, action):
    """A move that changes nothing but the player to move."""
    state.to_move = 1 - state.to_move


def explain_all(state: Any, action: int, settings: Any) -> str:
    """Explanations that know of no rule, like the mask of `all_columns`."""
    name = connect_four.move_name(action, settings)
    return f"{name}: the game is over" if state["over"] else f"{name} is legal"


def text_of_x(state: Any, settings: Any) -> str:
    """A text in which x is always to move."""
    return connect_four.write_text(state, settings).replace(" o", " x")


def wide_text(state: Any, settings: Any) -> str:
    """A text with two spaces, which are read like one."""
    return connect_four.write_text(state, settings).replace(" ", "  ")


def twice_named(action: int, settings: Any, mover: int = 0) -> str:
    """The first two columns have the same name."""
    return "aacdefg"[action]


def failing(*arguments: Any) -> str:
    """A function with a mistake."""
    raise ZeroDivisionError("a mistake of mine")


LOW = dataclasses.replace(connect_four.PLANES[-1], high=1)
"""A plane with values above those that it declares."""


@pytest.mark.parametrize("options", [{}, {"position": NEARLY_FULL}])
def test_the_yardstick_breaks_no_law(options: Mapping[str, Any]) -> None:
    assert broken(YARDSTICK, **options) == {}


@pytest.mark.parametrize(
    ("game", "law", "why"),
    [
        (
            faulty(rules={"write_legal": all_columns}),
            "The mask allows what `explain` calls legal",
            r"the mask allows action \d, but explain says '.: column . is full \(rule 2\)'",
        ),
        (
            faulty(rules={"write_legal": all_columns}, words={"explain": explain_all}),
            "A position's text is read as this position",
            "PositionError: position: ",
        ),
        (
            faulty(words={"write_text": text_of_x}),
            "A position's text is read as this position",
            r"seed \d+, ply 1: \S+ x$",
        ),
        (
            faulty(words={"write_text": wide_text}),
            "A position's text is read as this position",
            "the text has more than single spaces",
        ),
        (
            faulty(words={"move_name": twice_named}),
            "Every legal action has a name of its own",
            "action 1 is named 'a', which is read as 0",
        ),
        (
            faulty(words={"explain": failing}),
            "The mask allows what `explain` calls legal",
            r"ZeroDivisionError: a mistake of mine\n.*test_contract.py:\d+: raise Zero",
        ),
        (
            faulty(options={"max_steps": lambda settings: 6}),
            "Rewards are zero-sum and add up; games end within their bounds",
            "no end after 6 plies, which max_steps says",
        ),
        (
            faulty(options={"payoff_bound": lambda settings: 0}),
            "Rewards are zero-sum and add up; games end within their bounds",
            "player_0 has -?1, payoff_bound is 0",
        ),
        (
            faulty(symmetries={"fields": {"discs": Moved((Axis.PLAYER,), Content.VALUES)}}),
            "To play a transformed game gives the transforms",
            "left-right reflection: .discs. is",
        ),
        (
            faulty(rules={"reset": other_start}),
            "Seed, options and actions determine every episode",
            "the starts differ",
        ),
        (
            faulty(observation={"planes": (*connect_four.PLANES[:-1], LOW)}),
            "Observations lie in their spaces",
            "plane 'to move' has 2, above 1",
        ),
    ],
    ids=lambda value: None if isinstance(value, Game) else value[:30],
)
def test_faults_are_found_and_explained(game: Game, law: str, why: str) -> None:
    found = {**broken(game, position=NEARLY_FULL), **broken(game)}
    (explained,) = (how for each, how in found.items() if each.startswith(law))
    assert re.search(why, explained)


# ---- the command ----


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, whose modules are forgotten after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(registry, "_registered", {**registry._registered})
    return tmp_path


WRONG_FOUR = """
from dataclasses import replace
from azumaya.benchmarks.yardstick import connect_four

RIGHT = connect_four.GAME.options
GAME = replace(
    connect_four.GAME, name="my_wrong_four", options=replace(RIGHT, max_steps=lambda settings: 6)
)
"""


def test_the_command_checks_a_file_in_the_current_folder(here: Path) -> None:
    """All variants of its games; the exit code says whether a law is broken."""
    (here / "my_wrong_four.py").write_text(WRONG_FOUR)
    result = azumaya("check-game", "my_wrong_four.py", "--games", 1)
    assert result.exit_code == 1, result.output
    assert "my_wrong_four {}: 12 of 13 laws hold" in result.output
    assert f"my_wrong_four {{'position': '{NEARLY_FULL}'}}: 13 of 13 laws hold" in result.output
    assert "games end within their bounds" in result.output
    assert "no end after 6 plies, which max_steps says" in result.output
    assert "laws broken: 1" in result.output
    only = WRONG_FOUR.replace("max_steps=", "variants=(), max_steps=")
    (here / "my_only_four.py").write_text(only.replace("my_wrong_four", "my_only_four"))
    result = azumaya("check-game", "my_only_four.py", "--games", 1)
    assert "my_only_four {}: 12 of 13 laws hold" in result.output


UNCOMPILED = """
from dataclasses import replace
from azumaya.benchmarks.yardstick import connect_four
from azumaya.envs.kernels.compile import kernel

@kernel
def helper(state, column):
    return {body}

@kernel
def play(state, action):
    helper({arguments})

GAME = replace(
    connect_four.GAME, name="{name}", rules=replace(connect_four.GAME.rules, play=play)
)
"""


@pytest.mark.parametrize(
    ("body", "arguments", "said"),
    [
        (
            "state.disks[column]", "state, action",
            ["helper cannot be compiled", ":8: return state.disks[column]",
             "numba: there is no field 'disks'"],
        ),
        (
            "state + column", "state, action",
            ["helper cannot be compiled", ":8: return state + column",
             "numba: No implementation of function Function(<built-in function add>) found for "
             "signature: add(Record(...), int64)"],
        ),
        (
            "nothing + column", "state, action",
            ["helper, which play calls, cannot be compiled", ":12: helper(state, action)",
             "numba: NameError: name 'nothing' is not defined"],
        ),
        (
            "f'{column:03d}'", "state, action",
            ["helper cannot be compiled", ":8: return f'{column:03d}'",
             "numba: format spec in f-strings not supported yet."],
        ),
        (
            "column", "state",
            ["helper, which play calls, cannot be compiled", ":12: helper(state)",
             "numba: Cannot bind 'args=(Record(...),) kws={}' to signature '(state, column)'"],
        ),
    ],
)  # fmt: skip
def test_a_kernel_that_cannot_be_compiled_is_named(
    body: str, arguments: str, said: list[str], here: Path
) -> None:
    name = f"uncompiled_{len(body)}_{len(arguments)}"
    text = UNCOMPILED.replace("{body}", body).replace("{arguments}", arguments)
    (here / f"{name}.py").write_text(text.replace("{name}", name))
    result = azumaya("check-game", f"{name}.py", "--games", 1)
    assert result.exit_code == 1, result.output
    _, title, *lines = result.output.splitlines()
    assert title.strip() == "✗ Every kernel can be compiled."
    assert lines[0].strip() == said[0]
    assert lines[1].strip().endswith(f"{name}.py{said[1]}")
    assert lines[2].strip().startswith(said[2])
    assert [line.strip() for line in lines[3:]] == [
        "--full prints all that numba says", "laws broken: 1",
    ]  # fmt: skip
    whole = azumaya("check-game", f"{name}.py", "--games", 1, "--full").output
    assert "Traceback (most recent call last)" in whole


@pytest.mark.parametrize(
    ("bound", "said"), [(42, "no end after 42 plies"), (2**31 - 1, "no end after 50 plies, so no")]
)
def test_a_game_that_never_ends_is_found_by_its_bound_or_broken_off(
    bound: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other checks that play to the end give up there, too."""
    monkeypatch.setattr(contract, "MOST_PLIES", 50)
    endless = faulty(rules={"play": pass_on}, options={"max_steps": lambda settings: bound})
    assert any(said in why for why in broken(endless).values())


def test_the_command_takes_a_path(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "below").mkdir()
    (here / "beside").mkdir()
    name = "my_four_below"
    file = here / "below" / f"{name}.py"
    file.write_text(f"{WRONG_FOUR.replace('my_wrong_four', name)}")
    assert [game.name for game in games_of(str(file))] == [name]
    monkeypatch.chdir(here / "beside")
    with pytest.raises(OptionError, match=r"^module \S+: it is not below the current folder"):
        games_of(f"../below/{name}.py")


def test_the_command_names_the_module_that_it_cannot_use() -> None:
    refused(azumaya("check-game", "no_such_module"), "module no_such_module: it cannot be imported")
    refused(azumaya("check-game", "json"), "module json: it has no Game; make the record an")


FAILING = """
from dataclasses import replace

import numpy as np

from azumaya.benchmarks.yardstick import connect_four
from azumaya.envs.kernels.compile import kernel

@kernel
def play(state, action):
    {body}

GAME = replace(connect_four.GAME, name="failing", rules=replace(connect_four.GAME.rules, play=play))
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(
            "state.over = nothing",
            r"play cannot be compiled\n +numba: NameError: name 'nothing' is not defined",
            id="numba tells no line",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "state.over = np.zeros(2, np.int64)[1 << 40]",
            "Segmentation fault",
            id="the kernel ends the process",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "state.payoff = deep(1)\n\n@kernel\ndef deep(n):\n"
            "    return 1 if n < 0 else 1 + (n & 3) * deep(n + 1)",
            r"Segmentation fault(.|\n)*contract\.py",
            id="the kernel calls itself without end",
        ),
    ],
)
def test_a_kernel_that_fails_does_not_do_so_in_silence(
    body: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "failing.py").write_text(FAILING.replace("{body}", body))
    done = python("-m", "azumaya", "check-game", "failing", cwd=tmp_path)
    assert done.returncode
    assert re.search(said, done.stdout + done.stderr)


def test_where_a_kernel_does_not_end_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would hear of it otherwise: while a kernel runs, Python does nothing."""
    monkeypatch.setattr(check_game_module, "ENDLESS", 0.1)
    with tempfile.TemporaryFile("w+") as errors:
        monkeypatch.setattr(sys, "__stderr__", errors)
        with check_game_module._told_if_endless():
            time.sleep(0.5)
        errors.seek(0)
        assert "Timeout" in errors.read()
