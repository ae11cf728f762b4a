"""`azumaya league` and `azumaya league report`: tables, JSON, pages, pictures, refusals."""

from __future__ import annotations

import codecs
import functools
import io
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from azumaya.baselines.arena.league import schedule
from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.league.crew import Outcome, PairJob
from azumaya.baselines.arena.league.ratings import Rating
from azumaya.baselines.arena.league.results import (
    LeagueFile,
    PairKey,
    PairResult,
    read_league,
)
from azumaya.baselines.arena.league.schedule import Plan
from azumaya.baselines.arena.league.standing import Standing, read_exams
from azumaya.baselines.arena.league.tables import draw, game_tables
from azumaya.baselines.cli import league as league_commands
from azumaya.baselines.values import champion
from azumaya.envs import GAMES
from tests.commands import azumaya, refused
from tests.league.playing import GAME, play_here
from tests.library import ROOT
from tests.odd_agents import ODD

OTHER = "score_dominari"
ODD_NAME = "program:[red]x[/b] `a|b` <i> $a_b$ \\"
league = functools.partial(azumaya, "league")


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(league_commands, "local_crew", lambda processes: play_here)


def made_up() -> None:
    """The league of three agents, one of which has an odd name, in `league.jsonl`."""
    file = LeagueFile(Path("league.jsonl"), seed=5)
    cards = [
        AgentCard("random", "built in", "", None, (GAME, "abalone")),
        AgentCard(ODD_NAME, "program", "0a1b", None, (GAME, "abalone")),
        AgentCard("runs/policy", "checkpoint", "ffff", None, (GAME,), {"steps": 1000}),
    ]
    for card in cards:
        file.add_card(card)
    for game in (GAME, "abalone"):
        for number in range(4):
            for first, second in [(1, 0), (0, 2), (1, 2)][: 3 if game == GAME else 1]:
                key = PairKey(game, number, cards[first].id, cards[second].id)
                fault = (1, "time-out: [b]no[/b] move") if (second, number) == (2, 0) else None
                results = (1, 1) if fault else (1, -1)
                file.add_pair(
                    PairResult(key, results, (9, 9), (10, 10), (25.0, 5.0), (fault, None))
                )
    file.close()


EXAM = {
    "agent": "random", "game": GAME, "part": "public", "version": 2, "positions": 9,
    "kept_wins": 0.25, "kept_draws": 1, "regret": 1.5,
}  # fmt: skip


def exam_file(*changes: dict[str, object]) -> None:
    """Results of exams in `exams.json`, which differ from `EXAM` by this."""
    lines = [json.dumps({**EXAM, **change}) + "\n" for change in changes]
    Path("exams.json").write_text("".join(lines))


def test_a_league_is_played_and_goes_on_without_playing_again() -> None:
    result = league("greedy", "--game", GAME, "--pairs", 2)
    assert result.exit_code == 0, result.output
    before = Path("league.jsonl").read_bytes()
    assert "2 pairs of games" in result.output
    assert "random" in result.output
    assert league("--game", GAME, "--pairs", 2).output == result.output
    assert Path("league.jsonl").read_bytes() == before
    added = league("--add", "uct:5", "--game", GAME, "--pairs", 1, "--json")
    found = json.loads(added.stdout)
    assert {agent["agent"] for agent in found["agents"]} == {"random", "greedy", "uct:5"}
    assert found["pairs"] == 2 + 2


def test_names_are_shown_as_they_are() -> None:
    made_up()
    shown = league("report").output
    assert ODD_NAME in shown
    assert "runs/policy lost 2 games by a fault, first: time-out: [b]no[/b] move" in shown
    assert "2.5 ms" in shown
    found = json.loads(league("report", "--json").output)
    by_name = {agent["agent"]: agent for agent in found["agents"]}
    assert set(by_name) == {"random", ODD_NAME, "runs/policy"}
    assert by_name["runs/policy"]["rating"] is None  # it has played one of two games
    assert by_name["runs/policy"]["card"]["training"] == {"steps": 1000}
    assert by_name["random"]["rating"]["elo"] == 0
    assert by_name[ODD_NAME]["time_class"] == "10 ms"
    assert (found["seed"], found["balanced"]) == (5, True)


def test_a_league_without_agents_has_a_report() -> None:
    """As one that was stopped before anything was stored but its settings."""
    LeagueFile(Path("league.jsonl")).close()
    shown = league("report", "--output", "a.svg", "--markdown", "league.md")
    assert shown.exit_code == 0, shown.output
    assert "0 pairs of games" in shown.output
    assert "0 agents, 0 games" in Path("league.md").read_text()
    ElementTree.parse("a.svg")


def test_an_agent_of_whose_moves_none_was_timed_is_drawn() -> None:
    """As one that fails in every game at its first move."""
    rating = Rating(-300.0, -400.0, -200.0, 20, 0.1)
    card = AgentCard("m:Fails", "python", "", None, (GAME,))
    draw([Standing(card, "m:Fails", None, "", {"all games": rating})], Path("a.svg"))
    assert "not measured" in Path("a.svg").read_text()  # in its legend


@pytest.mark.parametrize("names", [("random", "greedy"), ("random", "champion:10ms", ODD_NAME)])
@pytest.mark.parametrize("width", [40, 47, 60, 80, 100, 140])
def test_all_ratings_by_game_fit_the_terminal(width: int, names: tuple[str, ...]) -> None:
    rating = Rating(-1000.0, -1100.0, -900.0, 20, 0.1)
    games = tuple(GAMES)
    ratings = dict.fromkeys(games, rating)
    cards = [AgentCard(name, "search", "", None, games) for name in names]
    found = [Standing(card, card.name, 1.0, "1 ms", ratings) for card in cards]
    out = Console(width=width, file=io.StringIO(), record=True)
    for table in game_tables(found, games, width):
        out.print(table)
    shown = out.export_text()
    assert "…" not in shown
    assert shown.count("-1000") == len(names) * len(GAMES)
    for word in ("dominari", "horikomi", "abalone"):
        assert shown.count(word) == sum(word in game for game in GAMES)


def test_a_page_and_pictures_are_made_and_are_the_same_each_time() -> None:
    made_up()
    exam_file({"kept_draws": None}, {"part": "held-out", "kept_wins": 0.5})
    Path("docs").mkdir()
    out = ("--output", "a b.svg", "--markdown", "docs/league.md")
    written = []
    for _ in range(2):
        assert league("report", "--exams", "exams.json", *out).exit_code == 0
        written.append((Path("docs/league.md").read_text(), Path("a b.svg").read_bytes()))
    assert written[0] == written[1]
    page, picture = written[0]
    assert "](../a%20b.svg)" in page
    assert re.search(r"^Played on 20\d\d-\d\d-\d\d on \d+ cores? of .+ by azumaya", page, re.M)
    assert "| `runs/policy` | checkpoint | ffff | steps 1000 | 2: time-out: \\[b\\]" in page
    assert "`` program:[red]x[/b] `a\\|b` <i> $a_b$ \\ ``" in page
    about = "| agent | game | part | positions | wins kept | draws kept | mean regret |"
    rows = [
        f"| `random` | {GAME} | held-out, version 2 | 9 | 0.500 | 1.000 | 1.500 |",
        f"| `random` | {GAME} | public, version 2 | 9 | 0.250 |  | 1.500 |",
    ]
    assert "\n".join(rows) in page.partition(about)[2]
    widths = [line.replace("\\|", "").count("|") for line in page.splitlines() if line[:1] == "|"]
    assert set(widths) == {4, 6, 8}
    ElementTree.fromstring(picture)
    assert league("report", "--output", "b.png").exit_code == 0
    assert Path("b.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nobody",), "agent 'nobody': must be random, greedy"),
        (("greedy", "--game", "chess"), "game 'chess': no such game"),
        (("greedy", "--output", "a.pdf"), "--output a.pdf: must end in .svg or .png"),
        (("report", "--results", "other"), "line 1: not the file of a league"),
        (("report", "--exams", "other"), "--exams other: must hold what azumaya exam --json"),
        (("--seed", 6), "the league was played with seed=5, not 6"),
        (("--plain-starts",), "the league was played with balanced=True, not False"),
        (("greedy", "--output", "no/a.svg"), "--output no/a.svg: there is no folder no"),
        (("greedy", "--exams", "other"), "--exams other: must hold what azumaya exam --json"),
        (("report", "--markdown", "."), "--markdown .: is a folder"),
        (("report", "--markdown", "no/m.md"), "--markdown no/m.md: there is no folder no"),
        (("greedy", "--seed", 2**64), "seed=18446744073709551616: a whole number from 0"),
        (("greedy", "--seed", 2**64 - 1, "--pairs", 2), "starts=2: each start takes the next seed"),
        (("program:./nothing",), "no program './nothing' can be run"),
        (("greedy", "--ray", "A", "--workers", 4), "--workers 4: has no effect with --ray"),
        (("greedy", "--results", "."), ".: Is a directory"),
    ],
)
def test_refusals(words: tuple[object, ...], message: str) -> None:
    made_up()
    Path("other").write_text('{"a": 1}\n')
    before = Path("league.jsonl").read_bytes()
    refused(league(*words), message)
    assert Path("league.jsonl").read_bytes() == before


def test_results_of_exams_may_be_a_list() -> None:
    """Also with the byte order mark of editors on Windows."""
    exam = {**EXAM, "kept_wins": None, "regret": 0}
    path = Path("exams.json")
    found = json.dumps([exam, {**exam, "seed": 4}], indent=1).encode()
    path.write_bytes(codecs.BOM_UTF8 + found)
    assert read_exams(path) == [exam]


def test_champions_with_other_values_sit_out_until_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The league of the old ones is that of the file."""
    assert league("champion", "--game", GAME, "--pairs", 1).exit_code == 0
    (old,) = read_league("league.jsonl").cards.keys() - {"random"}
    data = tmp_path / "data"
    shutil.copytree(champion.DATA, data)
    with (data / "abalone.json").open("a") as file:
        file.write(" ")
    monkeypatch.setattr(champion, "DATA", data)
    before = Path("league.jsonl").read_bytes()
    shown = league("--game", GAME, "--pairs", 2)
    said = "sits out: its files have changed"
    assert f"{old} {said}; name it to let it join as it is now" in shown.output
    assert Path("league.jsonl").read_bytes() == before
    shown = league("champion", "--game", GAME, "--pairs", 2)
    assert f"{old} {said}\n" in shown.output
    met = Counter(key.first for key in read_league("league.jsonl").pairs)
    assert met.pop(old) == 1
    assert list(met.values()) == [2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--results league.jsonl: does not exist; name agents to begin"),
        (("greedy", "nobody"), "agent 'nobody': must be random, greedy"),
        (("alphabeta:5", "--game", "sudoku_tiles"), "plays none of the league's games"),
        (("greedy", "--move-limit", "inf"), "inf: must be a time from 100ms"),
        (("greedy", "--interval", "inf"), "--interval inf: must be a finite number"),
        (("greedy", "--time", "inf"), "inf: must be a time from 0ms"),
    ],
)
def test_nothing_is_written_for_a_league_that_cannot_begin(
    words: tuple[str, ...], message: str
) -> None:
    refused(league(*words), message)
    assert not Path("league.jsonl").exists()


def test_pairs_can_be_chosen_by_what_they_tell() -> None:
    words = ("random", "greedy", "--game", GAME, "--interval", 300, "--json")
    found = json.loads(league(*words).stdout)
    (rating,) = [a["rating"] for a in found["agents"] if a["agent"] == "greedy"]
    assert rating["high"] - rating["low"] <= 600
    assert 2 <= rating["games"] // 2 < 200
    again = json.loads(league(*words).stdout)
    assert again == found


def ratings_of(*words: object) -> dict[str, set[str]]:
    """Who has a rating in each game, after a command."""
    result = league(*words, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, set[str]] = {}
    for agent in json.loads(result.stdout)["agents"]:
        for game in agent["games"]:
            found.setdefault(game, set()).add(agent["agent"])
    return found


def test_a_second_game_can_be_played_in_the_same_file() -> None:
    """By newcomers, by those of the file, and with pairs chosen."""
    both, everyone = {"greedy", "random"}, {"greedy", "random", "uct:2"}
    assert ratings_of("greedy", "--game", GAME, "--pairs", 1) == {GAME: both}
    before = Path("league.jsonl").read_bytes()
    assert ratings_of("--pairs", 1) == {GAME: both}
    assert Path("league.jsonl").read_bytes() == before
    found = ratings_of("uct:2", "--game", OTHER, "--pairs", 1)
    assert found == {GAME: both, OTHER: {"uct:2", "random"}}
    assert ratings_of("--game", OTHER, "--pairs", 1) == {GAME: both, OTHER: everyone}
    found = ratings_of("--game", GAME, "--game", OTHER, "--interval", 200)
    assert found == {GAME: everyone, OTHER: everyone}
    assert len(read_league("league.jsonl").pairs) > 2 * 2 * 3
    newcomer = ("--add", "uct:2", "--pairs", 1, "--results", "new.jsonl")
    assert ratings_of("greedy", "--game", GAME, "--pairs", 1, *newcomer[-2:]) == {GAME: both}
    assert ratings_of(*newcomer) == {GAME: everyone}, "it is not rated by seven others"


def test_who_cannot_play_a_further_game_is_named_and_nothing_is_silent() -> None:
    made_up()
    shown = league("--game", OTHER)
    assert shown.exit_code == 0
    assert "runs/policy@ffff does not join: cannot be made: OptionError" in shown.output
    assert f"{OTHER}: no two agents play it; name agents that do" in shown.output
    shown = league("--add", "alphabeta:5", "--game", GAME, "--game", "sudoku_tiles",
                   "--results", "new.jsonl", "--interval", 900, "--pairs", 1)  # fmt: skip
    assert shown.exit_code == 0
    assert "sudoku_tiles: no two agents play it" in shown.output
    assert f"nobody whose games were to be chosen plays all of {GAME}, sudoku_tiles" in shown.output


def test_repeated_starts_are_told_of_before_games_are_played() -> None:
    words = ("greedy", "--game", GAME, "--results")
    shown = league(*words, "plain.jsonl", "--plain-starts", "--pairs", 3)
    told = f"{GAME}: up to 3 pairs of games from 1 different start: two agents that leave nothing"
    assert shown.output.startswith(told)
    assert "different start" not in league(*words, "one.jsonl", "--pairs", 3).output
    settings = (("plain.jsonl", 1), ("one.jsonl", 200))
    for path, different in settings:
        (line,) = schedule.remarks(read_league(path), Plan((GAME,), 203))
        assert line.startswith(f"{GAME}: up to 203 pairs of games from {different} different start")


def test_results_of_exams_belong_to_the_latest_card_of_a_name_or_to_none() -> None:
    made_up()
    file = LeagueFile(Path("league.jsonl"))
    file.add_card(AgentCard("runs/policy", "checkpoint", "eeee", None, (GAME,)))
    file.close()
    exam_file({"agent": "runs/policy"}, {"agent": "my:Bot"}, {"agent": "uct:7"})
    shown = league("report", "--exams", "exams.json", "--json")
    said = "--exams exams.json: no agent of the league is named my:Bot, uct:7; left out"
    assert said in shown.stderr
    cards = {agent["card"]["id"]: agent for agent in json.loads(shown.stdout)["agents"]}
    assert cards["runs/policy@eeee"]["exams"] == [{**EXAM, "agent": "runs/policy"}]
    assert not any(agent["exams"] for id, agent in cards.items() if id != "runs/policy@eeee")


def test_the_stored_results_of_exams_can_be_read() -> None:
    found = read_exams(ROOT / "docs" / "results" / "exams.jsonl")
    assert {(exam["part"], exam["positions"]) for exam in found} == {("held-out", 500)}


def test_ctrl_c_keeps_what_was_played(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(jobs: Iterable[PairJob]) -> Iterator[Outcome]:
        yield next(play_here(jobs))
        raise KeyboardInterrupt

    monkeypatch.setattr(league_commands, "local_crew", lambda processes: interrupted)
    result = league("greedy", "--game", GAME)
    assert result.exit_code == 130
    assert "the same command resumes" in result.output
    assert Path("league.jsonl").read_bytes().count(b'"record":"pair"') == 1


def test_what_cannot_be_played_with_leaves_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as Ray where it is not installed."""
    monkeypatch.setitem(sys.modules, "ray", None)
    assert league("greedy", "--game", GAME, "--ray", "local").exit_code != 0
    assert not Path("league.jsonl").exists()


@pytest.mark.slow
def test_an_agent_whose_check_fails_does_not_keep_others_from_a_further_game() -> None:
    picky = f"{ODD}:Checks:{GAME}"
    assert ratings_of(picky, "greedy", "--game", GAME, "--pairs", 1)
    shown = league("--game", OTHER, "--pairs", 1)
    assert shown.exit_code == 0, shown.output
    said = f"{picky} does not join: cannot be made: AgentFailedError: agent {picky}"
    shown_names = re.sub("@[0-9a-f]*", "", shown.output)
    assert f"{said}: check failed: RuntimeError: not this one" in shown_names
    met = [key for key in read_league("league.jsonl").pairs if key.game == OTHER]
    assert {(key.first, key.second) for key in met} == {("greedy", "random")}
