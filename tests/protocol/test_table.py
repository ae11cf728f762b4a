"""The table to beat: what is trained and measured, its file, and the commands."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from azumaya.baselines.agents import GreedyAgent
from azumaya.baselines.arena.matches import play_pairing, take_exam
from azumaya.baselines.protocol import cards, tracks
from azumaya.baselines.protocol.cards import Card, CardError, Finding, leaderboard, read_card
from azumaya.baselines.protocol.cells import FIELD, Cell, Failure, make_cell, words_of
from azumaya.baselines.protocol.table import CellError, fill, read_table, setting
from azumaya.baselines.protocol.tracks import (
    AZUMAYA_3,
    TRACKS,
    Job,
    Track,
    agent_name,
    games_named,
    jobs_of,
)
from azumaya.baselines.system.work import WorkFileError
from azumaya.baselines.training import finished
from azumaya.baselines.training.run_folder import RunError
from azumaya.envs import GAMES, OptionError, Position
from tests.baselines.checkpoints import trained
from tests.commands import azumaya, refused

GAME = "vierer_dominari"
STARTS = 2
NAMES = ("random", "greedy")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of two agents, made by the command."""
    folder = tmp_path_factory.mktemp("table")
    words = ("--game", GAME, "--seeds", 2, "--starts", STARTS, "--output", folder)
    done = azumaya("benchmark", *NAMES, *words)
    assert done.exit_code == 0, done.output
    assert "greedy" in done.output
    return folder


# ---- what is compared ----


def test_a_contender_is_the_name_of_an_agent_with_words_in_braces() -> None:
    job, policy = Job("uct:100", GAME, "1M", 3), Path("runs/x/policy")
    names = {
        "uct:100": "uct:100",
        "ppo": "runs/x/policy",
        "puct:100:{alphazero}": "puct:100:runs/x/policy",
        "mine/{game}-{seed}/policy": f"mine/{GAME}-3/policy",
        "module:Class:{ppo}": "module:Class:runs/x/policy",
    }
    assert {name: agent_name(replace(job, contender=name), policy) for name in names} == names
    for wrong in ("{level}", "{ppo}{value}"):
        with pytest.raises(OptionError, match=r"must be one of \{game\}, \{seed\}, \{value\}"):
            agent_name(replace(job, contender=wrong), policy)


def test_games_have_groups() -> None:
    assert games_named(()) == tuple(GAMES)
    assert games_named(["azumaya-3", AZUMAYA_3[0]]) == AZUMAYA_3
    assert len(AZUMAYA_3) == len({*AZUMAYA_3} & {*GAMES}) == 3
    with pytest.raises(OptionError, match="chess"):
        games_named(["chess"])


def test_only_what_is_trained_has_a_track() -> None:
    jobs = jobs_of(("random", "ppo"), (GAME,), TRACKS["1M"], (1, 2))
    assert jobs == [
        Job(name, GAME, track, seed)
        for seed in (1, 2)
        for name, track in (("random", ""), ("ppo", "1M"))
    ]
    assert jobs_of(("random", "ppo", "random"), (GAME,), TRACKS["1M"], (1, 2)) == jobs
    with pytest.raises(
        OptionError, match=r"value on the track 10min-gpu: .*choose ppo or alphazero"
    ):
        jobs_of(("value",), (GAME,), TRACKS["10min-gpu"], (1,))


def test_a_track_becomes_options_of_a_script() -> None:
    job = Job("ppo", GAME, "10min-gpu", 2)
    words = words_of(TRACKS["10min-gpu"], job, Path("r"))
    assert {"--time=10min", "--device=cuda", "--seed=2", f"--game={GAME}"} <= {*words}
    assert "--steps=1000000" in words_of(TRACKS["1M"], job, Path("r"))
    assert not any("device" in word for word in words_of(TRACKS["1M"], job, Path("r")))


def test_a_run_that_an_earlier_version_has_trained_is_kept(tmp_path: Path) -> None:
    """Its note has the time as a number of minutes."""
    run, track = tmp_path / "r", TRACKS["1M"]
    words = words_of(track, Job("value", GAME, track.name, 1), run)
    run.mkdir()
    (run / "curve.json").write_text('[{"steps": 5}]')
    (run / "progress.json").write_text("")
    before = ["--minutes=0.0" if word == "--time=0min" else word for word in words]
    assert before != words
    (tmp_path / "r.done").write_text(json.dumps(before))
    assert finished.trained("value", run, words, words) == [{"steps": 5}]
    with pytest.raises(RunError):
        finished.trained("value", run, words, [*words[:-1], "--seed=2"])


@pytest.mark.parametrize("resumed", [False, True])
def test_only_the_time_of_a_run_that_is_resumed_counts_from_its_first_begin(
    resumed: bool, tmp_path: Path
) -> None:
    run, words = tmp_path / "r", ["--game=vierer_dominari", "--steps=64", "--ladder-starts=0"]
    words += ["--final-starts=1", "--measure-starts=1", f"--output={tmp_path / 'r'}"]
    finished.trained("value", run, words, words)
    (tmp_path / "r.done").unlink()
    os.utime(tmp_path / "r.begun", (0, 0))
    finished.trained("value", run, words, words, resumed)
    assert (finished.minutes_of(run) > 60) == resumed


# ---- measuring ----


def test_a_cell_has_what_the_arena_and_the_exam_find(made: Path) -> None:
    cell = next(
        c for c in read_table(made / "table.jsonl")[1] if c.job == Job("greedy", GAME, "", 2)
    )
    exam = take_exam("greedy", GAME, "held-out", seed=2)
    assert cell.exam == exam.kept_wins
    assert cell.exam_interval == exam.kept_wins_interval
    assert cell.regret == pytest.approx(exam.regret, abs=1e-6)
    assert cell.pairs.keys() == {*FIELD} - {"greedy"}
    for opponent in cell.pairs:
        score = play_pairing(GAME, "greedy", opponent, STARTS, seed=2000)
        assert tuple(cell.pairs[opponent]) == score.pairs
        assert cell.rate(opponent) == score.rate
        assert cell.interval(opponent) == score.interval()
    assert cell.mean_rate == pytest.approx((0.5 + cell.rate("uct:100") + cell.rate("champion")) / 3)
    assert cell.milliseconds > 0


@pytest.mark.parametrize(
    ("script", "other"),
    [
        ("ppo", f"{__name__}:Trained:{{ppo}}"),
        pytest.param("value", "alphabeta:300:{value}", marks=pytest.mark.slow),
    ],
)
def test_a_contender_is_trained_once(
    script: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = {"tiny": Track("tiny", steps=256)}
    monkeypatch.setattr(tracks, "TRACKS", tiny)
    monkeypatch.setattr("azumaya.baselines.protocol.cells.TRACKS", tiny)
    job = Job(script, GAME, "tiny", 1)
    with ThreadPoolExecutor(2) as pool:  # as two workers do
        jobs = job, replace(job, contender=other)
        cell, again = pool.map(lambda one: make_cell(one, tmp_path, STARTS), jobs)
    assert cell.steps >= 256
    assert cell.agent
    policy = tmp_path / f"tiny/{script}-{GAME}-1/policy.safetensors"
    before = policy.stat().st_mtime_ns
    assert make_cell(job, tmp_path, STARTS).minutes == cell.minutes
    assert policy.stat().st_mtime_ns == before
    assert again.steps == cell.steps
    assert (again.agent == cell.agent) == (":Trained:" not in other), "a class has code, too"
    assert again.regret != cell.regret


def test_agents_of_ones_own_are_measured(tmp_path: Path) -> None:
    contender = f"{__name__}:Own:{{game}} {{seed}}"
    cell = make_cell(Job(contender, GAME, "", 5), tmp_path, STARTS)
    greedy = make_cell(Job("greedy", GAME, "", 5), tmp_path, STARTS)
    assert cell.pairs["champion"] == greedy.pairs["champion"]


class Own(GreedyAgent):
    """The greedy agent, made with one argument."""

    def __init__(self, given: str) -> None:
        assert given == f"{GAME} 5"
        super().__init__()


class Trained(GreedyAgent):
    """The greedy agent, made with the path of a policy."""

    def __init__(self, policy: str) -> None:
        assert Path(policy).with_suffix(".safetensors").exists()
        super().__init__()


# ---- the file ----


def test_what_is_there_is_not_made_again(made: Path) -> None:
    file = made / "table.jsonl"
    before = file.read_text()
    jobs = jobs_of(NAMES, (GAME,), TRACKS["1M"], (1, 2))
    told: list[tuple[int, int]] = []
    cells = fill(file, made, jobs, STARTS, progress=lambda *counts: told.append(counts))
    assert [cell.job for cell in cells] == jobs
    assert (file.read_text(), told) == (before, [(4, 4)])
    assert read_table(file) == (setting(STARTS), cells)


def test_a_line_that_is_no_cell_is_named_with_its_file(tmp_path: Path, made: Path) -> None:
    file = tmp_path / "t.jsonl"
    head = (made / "table.jsonl").read_text().splitlines()[0]
    file.write_text(f'{head}\n{{"agent": "ann"}}\n')
    jobs = jobs_of(("random",), (GAME,), TRACKS["1M"], (1,))
    for read in (read_table, lambda file: fill(file, tmp_path, jobs, STARTS)):
        with pytest.raises(WorkFileError, match=re.escape(f"{file}: line 2 is no cell of")):
            read(file)  # type: ignore[operator]


def test_cells_of_an_agent_whose_files_have_changed_are_made_again(tmp_path: Path) -> None:
    file, policy = tmp_path / "table.jsonl", tmp_path / "mine-1"
    jobs = jobs_of((f"{tmp_path}/mine-{{seed}}", "greedy"), (GAME,), TRACKS["1M"], (1,))
    found = []
    for new in (True, True, False):
        if new:
            trained(policy, GAME)
        found.append(fill(file, tmp_path, jobs, STARTS)[0])
    assert found[0].agent != found[1].agent
    assert found[1] == found[2]
    assert len(file.read_text().splitlines()) == 1 + 3
    assert read_table(file)[1] == [found[2], fill(file, tmp_path, jobs[1:], STARTS)[0]]


def test_a_name_that_is_no_agents_ends_the_command_at_once(tmp_path: Path) -> None:
    words = ("--game", GAME, "--seeds", 1, "--output", tmp_path)
    for name in ("greedyy", f"{tmp_path}/none-{{seed}}"):
        refused(azumaya("benchmark", "random", name, *words), name.partition("{")[0])
    assert not [*tmp_path.iterdir()]
    done = azumaya("submit", "my", tmp_path / "c.json", "--authors", "A", "--code", "B",
                   "--track", "1M", *words[:2], *words[4:])  # fmt: skip
    refused(done, "put {seed} into the name, or say --seeds 1")


def test_a_contender_that_fails_costs_its_own_cells_only(tmp_path: Path) -> None:
    """As the last line of a command of hours would have it."""
    names = {"Crashes": "ValueError: boom", "Cheats": "not an action", "Dies": "see .*log.txt",
             "Unborn": "see .*log.txt"}  # fmt: skip
    own = [f"{__name__}:{name}" for name in names]
    jobs = jobs_of(("random", *own, "uct:1"), (GAME,), TRACKS["1M"], (1,))
    failures: list[Failure] = []
    with pytest.raises(CellError, match=r"4 of 6 cells were not made, such as .*Crashes, vierer"):
        fill(tmp_path / "t.jsonl", tmp_path, jobs, STARTS, failed=failures.append)
    assert [failure.job.contender for failure in failures] == own
    for failure, said in zip(failures, names.values(), strict=True):
        assert re.search(said, failure.reason)
    assert "boom" in (tmp_path / "log.txt").read_text()
    kept = [cell.job.contender for cell in read_table(tmp_path / "t.jsonl")[1]]
    assert kept == ["random", "uct:1"]


class Crashes(GreedyAgent):
    """A contender that fails."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        raise ValueError("boom")


class Cheats(GreedyAgent):
    """A contender that fails."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        return [10**6] * len(positions)


class Dies(GreedyAgent):
    """A contender that fails."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        os._exit(3)


class Unborn(GreedyAgent):
    """A contender that cannot even be made."""

    def __init__(self) -> None:
        os._exit(3)


def test_a_table_of_other_starts_is_refused(made: Path, tmp_path: Path) -> None:
    jobs = jobs_of(NAMES, (GAME,), TRACKS["1M"], (1,))
    with pytest.raises(WorkFileError, match="other settings: starts; use the same"):
        fill(made / "table.jsonl", made, jobs, STARTS + 1)
    other = tmp_path / "other.jsonl"
    other.write_text("{}\n")
    with pytest.raises(WorkFileError):
        read_table(other)
    other.write_text((made / "table.jsonl").read_text().replace('"seed":2', '"seed":"2"'))
    with pytest.raises(WorkFileError, match="is no cell"):
        read_table(other)


def test_a_missing_file_is_named_once(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    said = f"^{re.escape(str(missing))}: No such file or directory$"
    with pytest.raises(WorkFileError, match=said):
        read_table(missing)
    with pytest.raises(CardError, match=said):
        read_card(missing)


@pytest.mark.slow
def test_cells_are_the_same_on_ray(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    # processes of Ray do not run the tests' interpreter setup, only its path
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    here = read_table(made / "table.jsonl")[1]
    there = fill(tmp_path / "t.jsonl", tmp_path, [cell.job for cell in here], STARTS, ray="local")
    assert all(Finding(one, other).same for one, other in zip(here, there, strict=True))


# ---- the commands ----


def test_a_table_is_shown_written_and_drawn(made: Path, tmp_path: Path) -> None:
    page, picture = tmp_path / "page.md", tmp_path / "profiles.png"
    words = ("--report", "--output", made, "--markdown", page, "--picture", picture)
    shown = azumaya("benchmark", *words, width=80)
    assert shown.exit_code == 0, shown.output
    table = shown.output[: shown.output.index(str(page))]
    assert max(map(len, table.splitlines())) <= 80
    assert shown.output.index("greedy") < shown.output.index("random")
    assert picture.read_bytes().startswith(b"\x89PNG")
    narrow = azumaya("benchmark", "greedy", "--report", "--output", made, width=60)
    assert max(map(len, narrow.output.splitlines())) <= 60
    assert narrow.output.count("greedy ") == 1
    assert "\u2026" not in narrow.output
    assert "random" not in narrow.output
    refused(azumaya("benchmark", "mine", "--report", "--output", made), "no such cell is there")
    text = page.read_text()
    assert "| greedy |" in text
    assert "1 x 2" in text


def test_bad_words_are_refused(tmp_path: Path) -> None:
    place = ("--output", tmp_path)
    refused(azumaya("benchmark", "--track", "1B", *place), "--track 1B: must be one of 1M, 10M")
    refused(azumaya("benchmark", "--game", "chess", *place), "chess")
    refused(azumaya("benchmark", "{level}", *place), "{level} must be one of")
    refused(azumaya("benchmark", "--report", *place), "table.jsonl")
    refused(azumaya("verify", tmp_path / "none.json"), "none.json: No such file")
    assert not [*tmp_path.iterdir()]


# ---- cards ----


@pytest.fixture(scope="module")
def card(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The card of the greedy agent."""
    file = tmp_path_factory.mktemp("cards") / "my greedy.json"
    about = ("--authors", "A", "--code", "https://example.org/x", "--hardware", "a core")
    words = ("--game", GAME, "--seeds", 2, "--starts", STARTS, "--output", made)
    done = azumaya("submit", "greedy", file, *about, *words)
    assert done.exit_code == 0, done.output
    assert f"azumaya verify '{file}'" in done.output, "a command to copy"
    return file


def changed(card: Path, folder: Path, **changes: object) -> Path:
    """A copy of a card whose first cell has other fields."""
    found = json.loads(card.read_text())
    found["cells"][0].update(changes)
    other = folder / "changed.json"
    other.write_text(json.dumps(found))
    return other


def test_a_card_is_verified(card: Path, made: Path, tmp_path: Path) -> None:
    found = read_card(card)
    assert (found.agent, found.authors, found.hardware) == ("greedy", "A", "a core")
    assert [cell.job.seed for cell in found.cells] == [1, 2]
    words = ("--cells", 2, "--output", made)
    same = azumaya("verify", card, *words)
    assert same.exit_code == 0, same.output
    assert "2 of 2 cells were made again" in same.output
    for changes, said in (
        ({"kept_wins": 1}, "exam: 0.3% of wins kept, now"),
        ({"agent": "0123456789ab"}, "the agent's files: 0123456789ab, now none"),
    ):
        wrong = azumaya("verify", changed(card, tmp_path, **changes), *words)
        assert wrong.exit_code == 1
        assert said in wrong.output
        assert "1 of 2 cells differ; the card was made by azumaya" in wrong.output


def test_figures_may_differ_within_their_intervals(card: Path) -> None:
    """As they do where agents play by the clock."""
    cell = read_card(card).cells[0]
    near, far = (
        replace(cell, kept_wins=cell.wins * share // 100, pairs=dict.fromkeys(cell.pairs, pairs))
        for share, pairs in ((90, (5, 0, 90, 0, 5)), (40, (90, 0, 10, 0, 0)))
    )
    assert Finding(near, near).same
    slower = Finding(near, replace(near, milliseconds=2 * near.milliseconds, cpu="another"))
    assert (slower.same, slower.differences) == (True, [])
    close = Finding(near, replace(near, kept_wins=near.kept_wins - 3))
    assert (close.same, close.differences) == (False, [])
    assert len(Finding(near, far).differences) == 1 + len(cell.pairs)
    assert any("against random: 50.0%, now 5.0%" in said for said in Finding(near, far).differences)
    fewer = Finding(replace(near, pairs=dict.fromkeys(cell.pairs, (0, 0, 1, 0, 0))), near)
    assert [said.partition(": ")[2] for said in fewer.differences] == (
        ["1 pair, now 100"] * len(cell.pairs)
    )
    draws = replace(near, draws=100, kept_draws=90)
    assert Finding(draws, replace(draws, kept_draws=10)).differences == [
        "exam: 90.0% of draws kept, now 10.0%"
    ]
    retrained = replace(near, agent="abc", job=Job("ppo", GAME, "10min-cpu", 1))
    assert Finding(retrained, replace(retrained, agent="def")).differences == []
    own = replace(retrained, job=Job("mine", GAME, "", 1))
    assert Finding(own, replace(own, agent="def")).differences
    assert Finding(own, replace(own, regret=0.1)).differences == [
        f"the exam's regret: {own.regret:g}, now 0.1"
    ]
    assert Finding(retrained, replace(retrained, agent="def", regret=0.1)).differences
    assert Finding(own, replace(own, regret=0.1, kept_wins=own.kept_wins - 3)).differences == []


def test_cards_of_other_forms_are_refused(card: Path, tmp_path: Path) -> None:
    found, other = json.loads(card.read_text()), tmp_path / "other.json"
    wrong: list[tuple[Mapping[str, object], str]] = [
        ({"card": 2}, "first field must be card: 1"),
        ({"track": "1B"}, "track '1B': must be one of"),
        ({"cells": []}, "no cells"),
        ({"cells": found["cells"][:1] * 2}, "each there once"),
        ({"agent": "random"}, "of its own agent"),
        ({"cells": found["cells"][1:]}, "same seeds, from 1 on"),
        ({"setting": {**found["setting"], "starts": 0}}, "starts: must be from 1"),
        ({"setting": {**found["setting"], "starts": 1}}, "at most one for each start"),
        ({"more": 1}, "'more' is unknown"),
    ]
    for changes, said in wrong:
        other.write_text(json.dumps({**found, **changes}))
        with pytest.raises(CardError, match=said):
            read_card(other)
    pairs = found["cells"][0]["pairs"]
    for changes, said in (
        ({"kept_wins": 10**6}, "seed 1: kept_wins and kept_draws must be from 0 to wins"),
        ({"kept_draws": -1}, "kept_wins and kept_draws"),
        ({"wins": 10**30}, "kept_wins and kept_draws"),
        ({"milliseconds": -1.0}, "milliseconds must be at least 0"),
        ({"pairs": {**pairs, "uct:1": [0, 0, 0, 0, 2]}}, "those against random, greedy, uct:100"),
        ({"pairs": {"random": pairs["random"]}}, "those against random, greedy, uct:100"),
        ({"pairs": {**pairs, "random": [2]}}, "5 counts for each opponent"),
        ({"pairs": {**pairs, "random": [-1, 0, 0, 0, 3]}}, "5 counts for each opponent"),
        ({"pairs": {**pairs, "random": [0, 0, 0, 0, 1]}}, "as many against each opponent"),
        ({"pairs": dict.fromkeys(pairs, [0] * 5)}, "as many against each opponent"),
        ({"job": {**found["cells"][0]["job"], "track": "1M"}}, "of its track if"),
        ({"job": {**found["cells"][0]["job"], "game": "chess"}}, "same seeds, from 1 on"),
    ):
        with pytest.raises(CardError, match=said):
            read_card(changed(card, tmp_path, **changes))
    another = replace(read_card(card), setting=replace(setting(STARTS), protocol=0))
    with pytest.raises(CardError, match="another protocol"):
        next(cards.verify(another, tmp_path, 1))


def test_the_schema_names_the_fields() -> None:
    names = json.loads(cards.schema())["$defs"]
    assert {"card", "agent", "cells"} <= names["Card"]["properties"].keys()
    assert {"job", "pairs", "kept_wins"} <= names["Cell"]["properties"].keys()


def test_the_leaderboard_has_a_table_for_each_track(card: Path) -> None:
    greedy = read_card(card)

    def of(agent: str, track: str, cells: tuple[Cell, ...]) -> Card:
        jobs = [replace(cell.job, contender=agent, track=track) for cell in cells]
        pairs = [{**cell.pairs, "greedy": (0, 0, STARTS, 0, 0)} for cell in cells]
        own = [replace(c, job=j, pairs=p) for c, j, p in zip(cells, jobs, pairs, strict=True)]
        return replace(greedy, agent=agent, track=track, cells=tuple(own))

    text = leaderboard([greedy, of("mine", "1M", greedy.cells), of("b", "1M", greedy.cells)])
    assert text.index("**Open**") < text.index("**1M** (1,000,000 steps)")
    assert "| mine (1M) |" in text
    assert text.count("<https://example.org/x>") == 3
    again = replace(of("mine", "1M", greedy.cells), authors="B | <b>", code="[x](javascript:y)")
    text = leaderboard([of("mine", "1M", greedy.cells), again])
    rows = {row.split(" | ")[0]: row for row in text.splitlines() if "mine" in row}
    assert rows.keys() == {"| mine (1M)", "| mine (1M) #2"}
    assert rows["| mine (1M)"].endswith("| A | a core | <https://example.org/x> |")
    text = leaderboard([of(agent, "", greedy.cells) for agent in ("a #3", "a", "a", "_a_")])
    assert all(f"| {name} |" in text for name in ("a", "a #2", "a #3", r"\_a\_"))
    other = replace(greedy, setting=setting(STARTS + 1))
    with pytest.raises(CardError, match="different exams, starts or opponents"):
        leaderboard([greedy, other])
    assert rows["| mine (1M) #2"].endswith(r"| B \| \<b\> | a core | \[x\](javascript:y) |")


def test_code_of_a_card_is_not_run_unless_it_is_trusted(card: Path, tmp_path: Path) -> None:
    found, ran = json.loads(card.read_text()), tmp_path / "ran"
    found["cells"] = found["cells"][:1]
    for agent in (f"os:mkdir:{ran}", f"program:mkdir {ran}"):
        found["agent"] = found["cells"][0]["job"]["contender"] = agent
        found["cells"][0]["pairs"] = dict.fromkeys(FIELD, (0, 0, STARTS, 0, 0))
        file = tmp_path / "code.json"
        file.write_text(json.dumps(found))
        refused(azumaya("verify", file, "--output", tmp_path), "is code, which could do anything")
        assert not ran.exists()
        assert azumaya("verify", file, "--output", tmp_path, "--trusted").exit_code != 0
        ran.rmdir()
    words = ("--game", GAME, "--seeds", 1, "--starts", 1, "--output", tmp_path)
    own = "azumaya.baselines.agents.compiled:GreedyAgent"
    done = azumaya("submit", own, file, "--authors", "A", "--code", "B", *words)
    assert f"azumaya verify {file} --trusted" in done.output
