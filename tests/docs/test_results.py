"""The figures on the pages are those of the stored results, and these are of what ships."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from azumaya.baselines.agents.sidecar import read_sidecar
from azumaya.baselines.arena.league.cards import card_of
from azumaya.baselines.arena.league.results import read_league
from azumaya.envs import GAMES
from tests.cases import COMPLETE
from tests.docs.blocks import ROOT

RESULTS = ROOT / "docs" / "results"
CARDS = ROOT / "baselines" / "values" / "data"


@pytest.fixture(scope="module")
def exams() -> dict[tuple[str, str], Any]:
    """The stored results of the held-out exams, by game and agent."""
    lines = (RESULTS / "exams.jsonl").read_text().splitlines()
    return {(found["game"], found["agent"]): found for found in map(json.loads, lines)}


def table_rows(page: str, columns: int) -> Iterator[list[str]]:
    """The cells of each row with `columns` columns in the tables of a page."""
    for line in (ROOT / "docs" / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns:
            yield cells


def test_the_page_of_champions_has_their_cards_and_exams(
    exams: dict[tuple[str, str], Any],
) -> None:
    """The options are those of the cards, the exams' shares those of the stored results."""
    page = "results/champions.md"
    pairs = [cells for cells in table_rows(page, 2) if cells[1].startswith("`--")]
    options = {title: given.strip("`") for title, given in pairs}
    rows = {cells[0]: cells for cells in table_rows(page, 6)}
    for game in (GAMES[name] for name in COMPLETE):
        command, cells = read_sidecar(CARDS / game.name).notes["command"], rows[game.title]
        assert command.endswith(f" --game {game.name} {options[game.title]}")
        for column, agent in ((2, "champion"), (3, "champion:10ms"), (5, "greedy")):
            found = exams.get((game.name, agent))
            assert cells[column] == (
                f"{found['kept_wins']:.1%}".replace("%", " %") if found else ""
            )


def test_the_stored_league_was_played_by_the_champions_that_ship() -> None:
    """Their files have the digest that the league knows them by."""
    league = read_league(RESULTS / "league.jsonl")
    stored = {card.digest for card in league.cards.values() if card.name.startswith("champion")}
    assert stored == {card_of("champion", list(GAMES)).digest}


def test_the_page_of_puzzle_winners_counts_what_is_in_its_table() -> None:
    rows = (RESULTS / "puzzle-winners.csv").read_text().splitlines()[1:]
    winners = [row.split(",")[2] for row in rows]
    first, second = winners.count("first"), winners.count("second")
    text = (RESULTS / "puzzle-winners.md").read_text().replace("\n", " ")
    assert f"winner of {len(rows)}: the first player in {first}, the second in {second}." in text
