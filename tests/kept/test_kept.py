"""Files that an earlier version wrote are read as they were."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from azumaya.baselines.arena import play_pairing
from azumaya.baselines.arena.league.results import read_league
from azumaya.envs import Position, make_vec
from azumaya.envs.notation import read_records, replay
from tests.cases import nightly
from tests.commands import azumaya
from tests.kept.make import DRAWS, FILES, GAME, GRADE, STEPS
from tests.training.run_helpers import SCRIPTS


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with the files."""
    with zipfile.ZipFile(FILES) as packed:
        packed.extractall(tmp_path)
    return tmp_path


EARLIER = {"ppo": "ppo_selfplay"}
"""Names of algorithms when the files were made."""


@pytest.mark.parametrize("algorithm", nightly(SCRIPTS, ("ppo", "td_value")))
def test_a_run_is_resumed_and_its_agent_plays(algorithm: str, kept: Path) -> None:
    """By a command line, which takes the run's options where defaults are others by now."""
    run = kept / EARLIER.get(algorithm, algorithm)
    before = (run / "curve.json").read_text()
    assert play_pairing(GAME, str(run / "policy"), "random", starts=1).games == 2
    train, _ = SCRIPTS[algorithm]
    words = ["--output", str(run), "--resume", "--steps", str(2 * STEPS)]
    assert sys.modules[train.__module__].run_words(words) == 0
    after = (run / "curve.json").read_text()
    assert after != before


def test_a_league_is_read(kept: Path) -> None:
    league = read_league(kept / "league.jsonl")
    assert sorted(card.name for card in league.cards.values()) == ["greedy", "random", "uct:5"]
    results = league.in_order()
    assert len(results) == 9
    won = [r for r in results if (r.key.first, r.key.second) == ("greedy", "random")]
    assert sum(sum(result.results) for result in won) > 0


def test_a_class_is_marked_again_without_being_run(kept: Path) -> None:
    before = (kept / "marks" / "marks.csv").read_bytes()
    stored = (kept / "marks" / "class.jsonl").read_bytes()
    marks = ("--output", kept / "marks", *GRADE)
    done = azumaya("class", "grade", GAME, kept / "submissions", *marks)
    assert done.exit_code == 0, done.output
    assert (kept / "marks" / "marks.csv").read_bytes() == before
    after = (kept / "marks" / "class.jsonl").read_bytes()
    assert after.startswith(stored)
    more = after.removeprefix(stored).splitlines()  # earlier versions did not look for mistakes
    assert {json.loads(line)["record"] for line in more} == {"review"}


@pytest.mark.parametrize("game", [GAME, DRAWS])
def test_records_and_states_are_read(game: str, kept: Path) -> None:
    records = list(read_records(kept / f"{game}.jsonl"))
    assert len(records) == 4
    for record in records:
        *_, last = replay(record)
        assert last.is_over
        assert last.returns() == record.returns
    saved = np.load(kept / f"{game}.npz")
    vector = make_vec(game, 4, autoreset_mode="SameStep")
    vector.set_state((saved["states"], saved["series"]))
    for i, text in enumerate(saved["texts"].tolist()):
        assert str(vector.position(i)) == text
        assert str(Position.from_text(game, text)) == text
