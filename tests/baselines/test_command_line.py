"""Command lines that are read into a dataclass."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from azumaya.baselines.system.command_line import Words, read_options


@dataclass(frozen=True)
class Base:
    """What is inherited."""

    size: Annotated[float | None, "not for the command line"] = None
    """The size, which
    is [not] needed."""
    fast: bool = False


@dataclass(frozen=True)
class Options(Base):
    """The options."""

    names: Annotated[tuple[str, ...], Words(metavar="NAME", place=True)] = ()
    """Names."""
    kind: Literal["one", "two"] = "one"
    """The kind."""
    most_moves: int = 3
    seeds: tuple[int, ...] = (1, 2)
    """Seeds."""
    settings: Annotated[dict[str, Any], Words(read=lambda words: {words[0]: words[1]})] = field(
        default_factory=dict
    )
    output: Path | None = None


def read(*words: str, default: Options | None = None) -> Options:
    """The options of a command line."""
    return read_options(default or Options(), words, "python -m program", "What it does.")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("", {}),
        ("a b --size 0.5 --fast c", {"names": ("a", "b", "c"), "size": 0.5, "fast": True}),
        ("--kind two --most-moves=7", {"kind": "two", "most_moves": 7}),
        ("--most_moves 7 --no-fast", {"most_moves": 7}),
        ("--most-moves -7", {"most_moves": -7}),
        ("--seeds 4 -5 6 --output a_b", {"seeds": (4, -5, 6), "output": Path("a_b")}),
        ("--seeds 4 --seeds 5", {"seeds": (4, 5)}),
        ("--settings x -1", {"settings": {"x": "-1"}}),
    ],
)
def test_words_become_values(words: str, wanted: dict[str, Any]) -> None:
    assert read(*words.split()) == Options(**wanted)


def test_what_is_not_given_stays_as_it_is() -> None:
    """Even if its words would be read as something else."""
    default = Options(seeds=(7,), settings={"x": 1}, size=2, names=("a",))
    assert read("--fast", default=default) == Options(
        seeds=(7,), settings={"x": 1}, size=2, names=("a",), fast=True
    )


@pytest.mark.parametrize(
    "words",
    [
        "--kind three",
        "--most-moves x",
        "--sizes 1",
        "--seeds",
        "--seeds --most-moves 3",
        "--seeds 1 x",
        "--size",
    ],
)
def test_what_cannot_be_read_is_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read(*words.split())
    assert end.value.code == 2
    assert words.split(maxsplit=1)[0] in capsys.readouterr().err


def test_help_has_the_texts_below_the_fields(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    for word in ("--help", "-h"):
        with pytest.raises(SystemExit) as end:
            read(word)
        assert end.value.code == 0
        said = " ".join(capsys.readouterr().out.split())
        for part in (
            "Usage: python -m program [OPTIONS]", "NAME", "What it does.", "The kind.",
            "The size, which is [not] needed.", "--no-fast", "[default: 1, 2]",
        ):  # fmt: skip
            assert part in said


def test_the_words_are_those_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["program", "--most-moves", "9"])
    assert read_options(Options(), None, "program", None).most_moves == 9
