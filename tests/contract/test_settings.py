"""Options are checked on every call, although prepared ones are cached; `help` names them all."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya.envs import GAMES, OptionError, Position, make_vec, raw
from azumaya.envs.setup import prepare
from tests.cases import TESTED

NEAR_END = "." * 80 + "1"


@pytest.mark.parametrize("game", TESTED)
def test_equal_values_of_another_type_are_refused(game: str) -> None:
    """True equals 1 in Python, but an option that takes one refuses the other, cached or not."""
    for option in TESTED[game].options:
        for right, wrong in ((True, 1), (False, 0), (1, True), (0, False)):
            try:
                Position(game, **{option.name: right})
            except ValueError:
                continue
            with pytest.raises(OptionError, match=option.name):
                Position(game, **{option.name: wrong})


class Odd(str):
    """A text of a subclass, whose `str` may say anything."""

    def __str__(self) -> str:
        return "something else"


@pytest.mark.parametrize("kind", [np.str_, Odd])
@pytest.mark.parametrize(
    ("game", "name", "value"),
    [
        ("sudoku_moyo", "territory", "draft"),
        ("sudoku_moyo", "setup", "choose"),
        ("sudoku_tiles", "reward", "points"),
        ("sudoku_tiles", "start", "one_each"),
        ("sudoku_tiles", "start", "1" + "." * 80),
        ("sudoku_tiles", "draws", "123"),
        ("abalone", "layout", "belgian_daisy"),
    ],
)
def test_texts_may_be_of_a_subclass(game: str, name: str, value: str, kind: Any) -> None:
    """Their canonical form is that of the text itself, so states fit."""
    given = prepare(GAMES[game], {name: kind(value)})
    plain = prepare(GAMES[game], {name: value})
    assert type(given.settings[name]) is str
    assert given.settings[name] == value
    assert given.origin == plain.origin


def test_flags_may_be_numpys() -> None:
    assert Position("sudoku_tiles", misplacement=np.bool_(True)).state["misplacement"][0]
    with pytest.raises(OptionError, match=r"misplacement=.*: must be one of False, True"):
        Position("sudoku_tiles", misplacement=np.int64(1))


def test_later_changes_to_a_list_change_no_episode() -> None:
    """The list that an option was given belongs to the caller, who may change it."""
    puzzles, regions = [NEAR_END], [row for row in range(1, 10) for _ in range(9)]
    territory = {"regions": regions, "owners": list("LDLD.LDLD")}
    env = raw("sudoku_moyo", puzzle=puzzles, territory=territory)
    games = make_vec("sudoku_moyo", 1, puzzle=puzzles, territory=territory)
    texts = [str(episode(env, games, which)) for which in range(3)]
    puzzles[0] = "2" + "." * 80
    regions[0], regions[80] = 9, 1
    assert [str(episode(env, games, which)) for which in range(3)] == texts
    assert env.options["puzzle"] == [NEAR_END]
    env.reset(options={"puzzle": puzzles})
    assert str(env.position).startswith("2")


def episode(env: Any, games: Any, which: int) -> Position:
    """The start of an episode: with the environments' options, or with others."""
    if which == 2:
        games.reset(seed=1, options={"scoring": "points"})
        return games.position(0)
    env.reset(seed=1, options={"scoring": "points"} if which else None)
    return env.position


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """A reset with other options does not need the file of puzzles again."""
    file = tmp_path / "puzzles.txt"
    file.write_text(NEAR_END)
    env = raw("sudoku_moyo", puzzle=str(file))
    file.unlink()
    env.reset(seed=1, options={"scoring": "points"})
    assert str(env.position).split()[0].endswith("1")
    with pytest.raises(OptionError, match="nor a file"):
        env.reset(options={"puzzle": str(file)})
    env.reset(options={"puzzle": None})
    assert not str(env.position).split()[0].startswith("." * 9 + "/" + "." * 9)


@pytest.mark.parametrize("name", GAMES)
def test_help_names_every_keyword(name: str) -> None:
    """Editors read the docstring and the signature, which are made from the game's options."""
    game = GAMES[name]
    module = import_module(f"azumaya.envs.{name}_v{game.version}")
    keywords = ["render_mode", "action_mask", *(o.name for o in game.options), "position"]
    for function in (module.env, module.raw_env):
        lines = inspect.getdoc(function).splitlines()
        assert lines[0].startswith(game.title)
        start = lines.index("Args:") + 1
        named = [line.split(":")[0].strip() for line in lines[start : lines.index("Raises:")]]
        assert [word for word in named if word] == keywords
        assert list(inspect.signature(function).parameters) == keywords
        for option in game.options:
            assert option.meaning in inspect.getdoc(function)
    assert module.env.__doc__ != module.raw_env.__doc__
