"""Every game has a page with all sections; tables and statistics agree with the code."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from azumaya.baselines.system.command_line import flag
from azumaya.envs import GAMES, Position
from azumaya.envs.game import Game
from azumaya.envs.setup import prepare
from tests.cases import COMPLETE
from tests.docs.blocks import ROOT

PAGES = ROOT / "docs" / "games"
SECTIONS = (
    "Description", "Move names", "Action space", "Observation space", "Starting state", "Rewards",
    "Episode end", "Arguments", "Position text", "Example", "Statistics", "References",
    "Version history",
)  # fmt: skip
OTHERS = {"index", "conventions", "dominari"}
"""Pages that are not about a single game."""
TABLES = ("facts", "actions", "planes", "options", "statistics")
every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


@pytest.fixture(scope="module")
def extension() -> Any:
    """The modules of the Sphinx extension, which is not part of the library."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        names = ("boards", "pages", "statistics", "tables")
        yield {name: importlib.import_module(f"azumaya_docs.{name}") for name in names}
    finally:
        sys.path.pop(0)


def page_of(game: Game) -> str:
    return (PAGES / f"{game.name}.md").read_text("utf-8")


# ---- pages ----


def test_pages_and_games_are_the_same() -> None:
    names = {path.stem for path in PAGES.glob("*.md")}
    assert names == OTHERS | set(GAMES)
    listed = (PAGES / "index.md").read_text("utf-8").split("```{toctree}")[1].split("```")[0]
    assert [name for name in listed.split()[1:] if name not in OTHERS] == list(GAMES)


@every_game
def test_a_page_has_all_sections_in_order(game: Game) -> None:
    headings = re.findall(r"^## (.+)$", page_of(game), re.MULTILINE)
    assert tuple(headings) == SECTIONS
    assert page_of(game).startswith(f"# {game.title}\n")
    assert f"**v{game.version}**" in page_of(game)


@every_game
def test_a_page_draws_boards_and_makes_its_tables_from_the_code(game: Game) -> None:
    drawn = re.findall(r"^```\{(\w+)\} (\w+)$", page_of(game), re.MULTILINE)
    assert {kind for kind, name in drawn if name == game.name} >= {*TABLES, "board"}
    assert {name for _, name in drawn} == {game.name}


@every_game
def test_a_page_tells_of_every_option(game: Game) -> None:
    """Besides the generated table, the page explains what every option means for the rules."""
    text = page_of(game)
    for option in game.options:
        assert re.search(rf"`{option.name}\b", text), option.name


# ---- tables ----


@every_game
def test_tables_name_every_option_and_plane(game: Game, extension: Any) -> None:
    tables = extension["tables"]
    options, planes = tables.options_table(game), tables.planes_table(game)
    assert all(f"`{option.name}`" in options for option in game.options)
    covered = []
    for first, last in re.findall(r"^\| (\d+)(?: to (\d+))? \|", planes, re.MULTILINE):
        covered += range(int(first), int(last or first) + 1)
    assert covered == list(range(len(game.observation.planes)))
    meanings = [line.split(" | ")[3] for line in planes.splitlines()[2:]]
    rows = tables._runs(game)
    for meaning, (first, last) in zip(meanings, rows, strict=True):
        for index in range(first, last + 1):
            pattern = re.escape(meaning.removesuffix(" |")).replace(re.escape("*n*"), r"\d")
            assert re.fullmatch(pattern, game.observation.planes[index].meaning.replace("|", "\\|"))


@every_game
def test_tables_cover_every_action_of_every_variant(game: Game, extension: Any) -> None:
    table = extension["tables"].actions_table(game)
    sizes = {prepare(game, options).num_actions for options in game.options.variants}
    found = re.split(r"^`Discrete\((\d+)\)`.*$", table, flags=re.MULTILINE)[1:]
    assert {int(size) for size in found[::2]} == sizes
    for size, rows in zip(found[::2], found[1::2], strict=True):
        covered: list[int] = []
        for first, last in re.findall(r"^\| (\d+)(?: to (\d+))? \|", rows, re.MULTILINE):
            covered += range(int(first), int(last or first) + 1)
        assert covered == list(range(int(size)))


# ---- statistics ----


@every_game
def test_statistics_are_those_of_the_rules_as_they_are(game: Game, extension: Any) -> None:
    """The first games, played again, have as many plies as the file states."""
    kept = extension["statistics"].read_all()[game.name]
    again = extension["statistics"].summary(game.name, extension["statistics"].SAMPLE)
    assert again["first_plies"] == kept["first_plies"]
    assert sum(kept["wins"]) + kept["draws"] + kept["cut_off"] == kept["games"]


def test_statistics_name_no_other_games(extension: Any) -> None:
    assert list(extension["statistics"].read_all()) == list(GAMES)


def test_tables_of_results_are_current(extension: Any) -> None:
    pages = extension["pages"]
    for page in pages.PAGES:
        text = (pages.DOCS / page).read_text("utf-8")
        assert text == pages.current(page), f"{page}: run python -m azumaya_docs.pages"


def test_the_table_of_short_trainings_has_every_game(extension: Any) -> None:
    head, _, *rows = extension["tables"].training_table().splitlines()
    assert head == "| game | against random | against greedy | exam: wins kept |"
    assert [row.split("]")[0] for row in rows] == [f"| [{g.title}" for g in GAMES.values()]
    assert rows[0].count("%") == 9  # three shares with intervals
    for name, row in zip(GAMES, rows, strict=True):
        assert "%" in row or name not in COMPLETE


def test_the_table_of_short_trainings_leaves_open_what_is_not_stored(
    extension: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, name = extension["tables"], next(iter(GAMES))
    stored = {game: result for game, result in tables.stored_results().items() if game != name}
    monkeypatch.setattr(tables, "stored_results", lambda: stored)
    _, _, first, *others = tables.training_table().splitlines()
    assert first == f"| [{GAMES[name].title}](../games/{name}.md) |  |  |  |"
    assert all("%" in row for row in others[: len(stored)])


def test_the_table_of_exams_has_every_stored_result(extension: Any) -> None:
    _, _, *rows = extension["tables"].exams_table().splitlines()
    games = [row for row in rows if row.startswith("| **")]
    assert len(rows) - len(games) == len(extension["tables"].EXAMS.read_text().splitlines())
    assert len(games) == len({row.split(":")[0] for row in games}) > 1
    assert rows[:2] == [
        "| **Sudoku Moyo**: 500 won, 0 drawn |  |  |  |",
        "| `random` | 16% (13% to 20%) |  | 1.68 (1.61 to 1.74) |",
    ]


def test_the_table_of_hyperparameters_has_every_option_that_matters(extension: Any) -> None:
    tables = extension["tables"]
    text = tables.hyperparameters_table()
    seen: set[str] = set()
    for script, config in (each for group in tables.SCRIPTS for each in group.items()):
        names = {field.name for field in fields(config)}
        assert f"`{script}`" in text
        assert all(f"| `{flag(name)}` |" in text for name in names - tables.CONDUCT)
        seen |= names
    assert seen >= tables.CONDUCT
    assert "| `--steps` | 5,000,000 | 500,000 | Total plies to learn from;" in text
    assert "| `--width` | by network | by network |" in text
    assert "| `board` | 32 | 3 | 0.002 | 0.1 |" in text


# ---- boards ----


def test_a_wrong_claim_about_a_move_is_refused(extension: Any) -> None:
    boards, position = extension["boards"], Position("vierer_dominari")
    boards.check_claims(position, ["3c4"], ["end"])
    with pytest.raises(boards.ClaimError, match="end is not legal"):
        boards.check_claims(position, ["end"], [])
    with pytest.raises(boards.ClaimError, match="3c4 is legal"):
        boards.check_claims(position, [], ["3c4"])


def test_a_wrong_equation_of_boards_is_refused(extension: Any) -> None:
    boards = extension["boards"]
    position = Position("vierer_dominari").play("3c4")
    right = ["a | field candidates 4", "AND", "b | field targets", "=", "c | legal 5"]
    parts = boards.evaluate(position, right)
    assert len(parts[-1].cells) == 4
    with pytest.raises(boards.ClaimError, match="'c' is not what"):
        boards.evaluate(position, [*right[:1], "OR", *right[2:]])
    with pytest.raises(boards.ClaimError, match="XOR"):
        boards.evaluate(position, [*right[:1], "XOR", *right[2:]])


@every_game
def test_a_cropped_picture_is_the_board_alone(game: Game, extension: Any) -> None:
    """It is a square and has every cell; stones look played where nobody knows which are given."""
    cropped, position = extension["boards"].cropped, Position(game, seed=1)
    picture = cropped(position, None, 'width="9"')
    _, _, width, height = re.findall(r'viewBox="(\S+) (\S+) (\S+) (\S+)"', picture)[0]
    assert width == height
    assert picture.count("data-cell") == len(position.scene().stones)
    given = any(stone and stone.given for stone in position.scene().stones)
    assert (cropped(position, None, 'width="9"', givens=False) != picture) == given


def test_pictures_with_equal_content_are_one_file(extension: Any, tmp_path: Path) -> None:
    svg = Position("abalone").svg()
    first = extension["boards"].save_svg(svg, tmp_path)
    assert extension["boards"].save_svg(svg, tmp_path) == first
    assert (tmp_path / first).read_text("utf-8") == svg
    assert [path.name for path in tmp_path.iterdir()] == [first]


# ---- the reference ----

EXPORTING = ("", ".agents", ".arena", ".arena.league", ".search", ".text")
"""Packages of `azumaya.baselines` that export names."""
UNDOCUMENTED = re.compile(r"azumaya\.(benchmarks|envs\.kernels)\b|azumaya\.envs\.\w+_v\d+")
"""Modules whose names the guides explain themselves."""


def documented() -> set[str]:
    """The names in the reference, and those of their modules."""
    text = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs/reference").glob("*.md"))
    named = re.findall(r"\.\. (?:auto\w+|py:\w+):: ([\w.]+)", text)
    found = {part for name in named for part in name.split(".")}
    for module in re.findall(r"automodule:: ([\w.]+)", text):
        found |= set(dir(importlib.import_module(module)))
    return found


def imports() -> list[tuple[Path, str, str]]:
    """Page, module and name of all that code in guides and notebooks imports from the library."""
    pages = [*(ROOT / "docs/guides").glob("*.md"), *(ROOT / "docs/course").glob("*.ipynb")]
    found = []
    for page in sorted(pages):
        code = page.read_text("utf-8").replace('\\n",\n    "', "\n")
        for module, names in re.findall(r"^ *\"?from (azumaya[\w.]*) import ([\w, ]+)", code, re.M):
            found += [(page, module, name.split()[0]) for name in names.split(",") if name.strip()]
    return found


@pytest.mark.parametrize("package", EXPORTING)
def test_what_a_package_exports_is_there_and_in_the_reference(package: str) -> None:
    module = importlib.import_module(f"azumaya.baselines{package}")
    assert set(module.__all__) <= set(dir(module))
    assert all(hasattr(module, name) for name in module.__all__)
    assert set(module.__all__) - documented() == set()
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'nil'"):
        module.nil  # noqa: B018 - it is looked up


def test_what_guides_import_is_in_the_reference() -> None:
    known = documented()
    found = [one for one in imports() if not UNDOCUMENTED.match(one[1])]
    assert len(found) > 50
    assert [one for one in found if one[2] not in known] == []


def test_guides_import_by_the_shortest_path() -> None:
    short = {
        name: f"azumaya.baselines{package}"
        for package in EXPORTING
        for name in importlib.import_module(f"azumaya.baselines{package}").__all__
    }
    for page, module, name in imports():
        if name in short and module.startswith(short[name]):
            assert module == short[name], f"{page.name}: {name}"
