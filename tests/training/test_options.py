"""Options of runs: each is taken in its declared range alone, and a refusal writes nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from azumaya.baselines.agents.network import NETWORKS as KINDS
from azumaya.baselines.system.command_line import flag
from azumaya.baselines.training import alphazero, maskable_ppo, ppo, value
from azumaya.baselines.training.command import read_words
from azumaya.baselines.training.config import Numbers, check_values
from azumaya.baselines.training.network_config import RECIPES, Recipe
from azumaya.envs import OptionError
from azumaya.envs.registry import GAMES
from tests.training.run_helpers import tiny_ppo, tiny_run

PROGRAMS: dict[str, Any] = {
    "maskable_ppo": maskable_ppo, "ppo": ppo, "alphazero": alphazero, "value": value,
}  # fmt: skip
every_program = pytest.mark.parametrize("name", PROGRAMS)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory that is empty but for a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text("")
    return tmp_path


def declared(config: type) -> Iterator[tuple[str, Any]]:
    """Each option with each type that it may have."""
    for name, hint in get_type_hints(config, include_extras=True).items():
        alone = get_origin(hint) in (Annotated, Literal)
        yield from ((name, each) for each in ((hint,) if alone else get_args(hint) or (hint,)))


def numbers_of(config: type) -> list[tuple[str, bool, Numbers]]:
    """The options that are numbers, whether they are whole, and their ranges."""
    return [
        (name, each.__origin__ is int, each.__metadata__[0])
        for name, each in declared(config)
        if get_origin(each) is Annotated and isinstance(each.__metadata__[0], Numbers)
    ]


def outside(whole: bool, numbers: Numbers) -> list[Any]:
    """Values beyond both ends of a range, and what is no such number."""
    found: list[Any] = [numbers.low if numbers.above else numbers.low - 1, math.nan, math.inf]
    found += [numbers.high + 1] if math.isfinite(numbers.high) else []
    found += [numbers.low + 1.5] if whole else []
    return [*found, True, "many", [1]]


def inside(whole: bool, numbers: Numbers) -> list[float]:
    """The ends of a range."""
    low = math.nextafter(numbers.low, 2) if numbers.above else numbers.low
    high = numbers.high if math.isfinite(numbers.high) else 10**12
    return [int(low), int(high)] if whole else [low, high]


@every_program
def test_numbers_are_taken_in_their_range_alone(name: str) -> None:
    make, ranges = PROGRAMS[name].Config, numbers_of(PROGRAMS[name].Config)
    assert len(ranges) > 10
    for option, whole, numbers in ranges:
        for right in inside(whole, numbers):
            check_values(make(**{option: right}))
        for wrong in outside(whole, numbers):
            with pytest.raises(OptionError) as refused:
                make(**{option: wrong}).completed()
            said = f"{flag(option)} {wrong}: must be {numbers.text(whole)}"
            assert str(refused.value) == said


def test_ranges_in_words() -> None:
    assert Numbers(1, 1024).text(whole=True) == "a whole number from 1 to 1,024"
    assert Numbers(0, 1, above=True).text(whole=False) == "a number above 0 to 1"
    assert Numbers(0.5).text(whole=False) == "a number from 0.5"


KINDS_IN_WORDS = {str: "a text", bool: "True or False", Path: "a pathlib.Path"}


@every_program
def test_words_are_those_that_are_declared(name: str) -> None:
    make = PROGRAMS[name].Config
    for option, each in declared(make):
        known = get_args(each) if get_origin(each) is Literal else ()
        for word in known:
            check_values(make(**{option: word}))
        if known or each in KINDS_IN_WORDS:
            wanted = f"one of {', '.join(map(str, known))}" if known else KINDS_IN_WORDS[each]
            with pytest.raises(OptionError) as refused:
                make(**{option: 5}).completed()
            assert str(refused.value) == f"{flag(option)} 5: must be {wanted}"


COMMON = [
    ("--game nope", "game 'nope': no such game; there are"),
    ("--threads 0", "--threads 0: must be a whole number from 1 to 1,024"),
    (f"--steps {10**400}", ": must be a whole number from"),
    ("--options nope 3", "--options: unexpected keyword argument 'nope': "),
    ("--game abalone --options max_plies -5", "--options: max_plies=-5: "),
    (f"--output {'x' * 300}", "no folder can have this path: File name too long"),
    (f"--output new/{'x' * 300}", "no folder can have this path: File name too long"),
    (f"--output {'x/' * 2500} --resume", "no folder can have this path: File name too long"),
    ("--output FILE", "--output FILE: FILE is a file"),
    ("--output FILE/run", "FILE is a file; name a folder"),
    ("--resume --output FILE", "FILE is a file; name a folder"),
    ("--resume --output nonexist", "nonexist holds no run"),
    ("--resume", "sudoku_moyo-1 holds no run"),
]
"""What every script refuses, and what is said."""
NETWORKS = [
    ("--network foo", f"--network foo: must be one of {', '.join(KINDS)}"),
    ("--game abalone --network numbers", "--network numbers: needs a game"),
    ("--width 999999999999", "--width 999999999999 --depth 1: a network with width"),
    ("--depth 1000000", "a network with depth 1000000 is too large; the most is 256"),
    ("--network board --width 8192", "parameters; the most is 268,435,456"),
]
ON_A_CPU = [
    (words, "--network numbers: finds its candidates on a CPU and computes with float32")
    for words in ("--bfloat16", "--device cuda --network numbers --no-bfloat16")
]
UPDATE = ("--games 1000000 --rollout 1000", "an update would have 1,000,000,000 actions")
CLIP = ("--clip 1e39", "--clip 1e+39: must be a number above 0 to 1,000,000")  # float32 has less
OWN = {
    "maskable_ppo": [
        *NETWORKS,
        UPDATE,
        CLIP,
        ("--batch 4095", "--batch 4095: an update of 4,096 actions"),
    ],
    "alphazero": [
        *NETWORKS,
        *ON_A_CPU,
        ("--memory 100000000", "--memory 100000000: with --simulations 64 a save would"),
        (
            "--game sudoku_tiles --exact-nodes 5",
            "--exact-nodes 5: in sudoku_tiles draws are hidden",
        ),
    ],
    "ppo": [
        *NETWORKS,
        *ON_A_CPU,
        UPDATE,
        CLIP,
        ("--device cuda --shaping 0.1", "--device cuda: needs --shaping 0, not 0.1"),
        ("--network plain --width 8000 --pool 100", "--pool 100: with networks of"),
    ],
    "value": [("--width -1", "--width -1"), ("--start nothing", "nothing")],
}


@every_program
def test_impossible_arguments_are_refused_in_one_line(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, told in COMMON + OWN[name]:
        assert PROGRAMS[name].run_words(words.split()) == 2, words
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("error: ")
        assert told in said.err
        assert said.err.count("\n") == 1
        assert [path.name for path in here.iterdir()] == ["FILE"], "no folder is left behind"


@every_program
def test_numbers_of_numpy_can_be_stored(name: str, tmp_path: Path) -> None:
    given = {"seed": np.int64(7), "learning_rate": np.float32(0.5), "output": tmp_path / "run"}
    config = PROGRAMS[name].Config(**given).ready()
    assert {key: config.stored_form()[key] for key in given if key != "output"} == {
        "seed": 7, "learning_rate": 0.5,
    }  # fmt: skip


@every_program
def test_a_folder_that_is_a_text_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match=r"--output run: must be a pathlib\.Path"):
        PROGRAMS[name].Config(output="run").ready()


@every_program
def test_runs_lack_options_that_are_newer(name: str, tmp_path: Path) -> None:
    """They do without what they did without."""
    kind = PROGRAMS[name].Config
    stored = kind().completed().stored_form()
    older = {option: value for option, value in stored.items() if option not in kind.added}
    (tmp_path / "config.json").write_text(json.dumps(older))
    config = kind.read(tmp_path)
    assert {option: getattr(config, option) for option in kind.added} == kind.added


def test_later_wins_count_less_where_games_need_not_end() -> None:
    for game in GAMES:
        by_ply = 0.99 if game == "abalone" else 1
        assert ppo.Config(game=game).completed().discount == by_ply
        assert ppo.Config(game=game, discount=0.9).completed().discount == 0.9
        assert maskable_ppo.Config(game=game).completed().discount == by_ply**2


@every_program
def test_a_time_is_said_as_everywhere(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    kind = PROGRAMS[name].Config
    for words, minutes in (("--time 30s", 0.5), ("--time=10min", 10), ("--time 0min", 0), ("", 0)):
        assert read_words(kind, words.split(), None).minutes == minutes
    assert capsys.readouterr().err == ""
    assert read_words(kind, ["--minutes", "2.5"], None).minutes == 2.5
    assert "--minutes 2.5 is now --time 2.5min" in capsys.readouterr().err


@every_program
def test_help_names_no_types_of_flags(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        PROGRAMS[name].run_words(["--help"])
    said = capsys.readouterr().out
    assert "--time" in said
    assert "--no-resume" in said
    assert "--minutes" not in said
    assert "<bool>" not in said


@every_program
@pytest.mark.parametrize("words", [
    "--options max_plies", "--options a 1 a 2", "--steps many", "--time 5", "--time -1s", "--time",
    "--minutes inf",
])  # fmt: skip
def test_unreadable_arguments_are_refused(name: str, words: str, here: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        PROGRAMS[name].run_words(words.split())
    assert ended.value.code == 2
    assert [path.name for path in here.iterdir()] == ["FILE"]


@pytest.mark.parametrize("kind", RECIPES)
def test_defaults_depend_on_the_network(kind: str) -> None:
    """Each network has its default hyperparameters; values from the user, even 0, override them."""
    recipe = RECIPES[kind]
    own = Recipe(
        width=7,
        depth=3,
        learning_rate=0.5,
        shaping=0.0,
        reuse=0.5,
        symmetries=not recipe.symmetries,
    )
    for make, others in (
        (maskable_ppo.Config, {"reuse", "symmetries"}),
        (ppo.Config, {"reuse"}),
        (alphazero.Config, {"shaping"}),
    ):
        default = replace(recipe, symmetries=True) if make is alphazero.Config else recipe
        assert make(network=kind).recipe == default
        given = {name: each for name, each in vars(own).items() if name not in others}
        wanted = {**vars(own), **{name: getattr(recipe, name) for name in others}}
        assert vars(make(network=kind, **given).recipe) == wanted


def test_the_default_network_depends_on_symmetries() -> None:
    """Scripts without the option see games as they are."""
    game = "vierer_dominari"
    for config, network in (
        (alphazero.Config(game=game), "lines"),
        (alphazero.Config(game=game, symmetries=False), "board"),
        (ppo.Config(game=game), "lines"),
        (ppo.Config(game=game, symmetries=False), "board"),
        (maskable_ppo.Config(game=game), "board"),
    ):
        assert config.completed().network == network
    assert alphazero.Config(game=game).completed().reuse == RECIPES["lines"].reuse
    seen = {name: ppo.Config(game=game, network=name).completed() for name in ("lines", "board")}
    assert {name: config.symmetries for name, config in seen.items()} == {
        "lines": True,
        "board": False,
    }


def test_the_last_minibatch_may_have_one_action(tmp_path: Path) -> None:
    """Only MaskablePPO divides by the deviation of a minibatch's advantages."""
    sizes: dict[str, Any] = {"games": 3, "rollout": 3, "batch": 4}
    tiny_ppo(tmp_path, **sizes).completed()
    with pytest.raises(OptionError, match=r"an update of 9 actions .* a minibatch of one"):
        tiny_run(tmp_path, **sizes).completed()
