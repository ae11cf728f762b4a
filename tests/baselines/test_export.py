"""`azumaya export`: tables of games and exams, their cards, and reading them back."""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.arena.exams import load_exam
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.export import export_exam, export_games, games, read_positions
from azumaya.baselines.export.card import CARD
from azumaya.envs import GAMES, OptionError, Position, RecordError
from azumaya.envs.notation import GameRecord, read_records, record_actions, replay, write_records
from azumaya.envs.observation import unpack_bits, unpack_planes
from azumaya.envs.puzzles.bank import load_bank
from tests.commands import azumaya, refused
from tests.library import ROOT

arrow: Any = pytest.importorskip("pyarrow")
parquet: Any = pytest.importorskip("pyarrow.parquet")
GAME = "revers_dominari"


def some_records(folder: Path, game: str, pairs: int = 2, **options: Any) -> Path:
    file = folder / f"{game}.jsonl"
    play_pairing(game, "random", "random", pairs, seed=5, options=options, record=file)
    return file


def rows_of(folder: Path, name: str = "games") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(folder / f"{name}.parquet").to_pylist()
    return found


def told_of(table: Path) -> dict[str, Any]:
    """What the metadata of a file say."""
    found: dict[str, Any] = json.loads(parquet.read_metadata(table).metadata[b"azumaya"])
    return found


def visited(records: list[GameRecord]) -> list[Position]:
    """All positions of the records in which a move was made."""
    return [before for r in records for before, _ in itertools.pairwise(replay(r))]


# ---- games ----


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("planes", [False, True])
def test_rows_say_what_records_say(name: str, planes: bool, tmp_path: Path) -> None:
    records = list(read_records(some_records(tmp_path, name)))
    assert export_games(records, tmp_path / "out", planes=planes) > 4
    rows, positions = rows_of(tmp_path / "out"), visited(records)
    moves = [(number, ply, m) for number, r in enumerate(records) for ply, m in enumerate(r.moves)]
    assert [(row["game"], row["ply"], row["move"]) for row in rows] == moves
    game = GAMES[name]
    for row, position in zip(rows, positions, strict=True):
        record, mover = records[row["game"]], position.to_move
        assert (row["position"], row["mover"]) == (str(position), mover)
        assert (row["player"], row["result"]) == (record.players[mover], record.returns[mover])
        assert position.move_name(row["action"]) == row["move"]
        kind = np.int8 if planes else np.uint64
        seen, mask = (np.array(row[n], kind) for n in ("observation", "action_mask"))
        if not planes:
            seen, mask = unpack_planes(game, seen), unpack_bits(mask, position.num_actions)
        assert (seen.ravel() == position.observation(mover).ravel()).all()
        assert (mask == position.action_mask()).all()
    for number, record in enumerate(records):
        own = [row for row in rows if row["game"] == number]
        gained = sum(row["reward"] * (1 - 2 * row["mover"]) for row in own)
        assert gained == record.returns[0] - positions[rows.index(own[0])].returns()[0]
        assert [r["terminated"] or r["truncated"] for r in own] == [False] * (len(own) - 1) + [True]


@pytest.mark.parametrize("name", GAMES)
def test_positions_are_read_back_equal(name: str, tmp_path: Path) -> None:
    for number, options in enumerate(GAMES[name].options.variants[:3]):
        folder = tmp_path / str(number)
        folder.mkdir()
        records = list(read_records(some_records(folder, name, 1, **options)))
        export_games(records, folder / "out")
        assert list(read_positions(folder / "out" / "games.parquet")) == visited(records)


def test_the_same_command_writes_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many games are in memory at once; and so does a file of the same games."""
    game = "score_dominari"
    words = ("random", "greedy", "uct:8", "--game", game, "--pairs", 5, "--seed", 3)
    for folder, at_once in (("a", 256), ("b", 2)):
        monkeypatch.setattr(games, "AT_ONCE", at_once)
        result = azumaya("export", "games", *words, "--output", tmp_path / folder)
        assert result.exit_code == 0, result.output
    for name in ("games.parquet", CARD):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    rows = rows_of(tmp_path / "a")
    assert {r["game"] for r in rows} == set(range(3 * 2 * 5))
    assert result.output == f"{tmp_path / 'b'}: {len(rows):,} moves\n"
    file = tmp_path / "games.jsonl"
    play_pairing(game, "random", "greedy", 5, seed=3, record=file)
    azumaya("export", "games", "--records", file, "--output", tmp_path / "c")
    assert rows_of(tmp_path / "c") == [row for row in rows if row["game"] < 10]


def test_an_agent_alone_plays_itself_and_a_league_rates_it(tmp_path: Path) -> None:
    league = ROOT / "docs" / "results" / "league.jsonl"
    words = ("greedy", "--game", GAME, "--pairs", 1, "--league", league)
    result = azumaya("export", "games", *words, "--output", tmp_path / "out")
    assert result.exit_code == 0, result.output
    told = {(r["player"], r["opponent"], r["player_rating"]) for r in rows_of(tmp_path / "out")}
    ((player, opponent, rating),) = told
    assert (player, opponent) == ("greedy", "greedy")
    assert rating > 0


# ---- exams ----


@pytest.mark.parametrize("part", ["public", "held-out"])
def test_an_exam_has_the_value_of_every_move(part: Any, tmp_path: Path) -> None:
    exam = load_exam(GAME, part)
    words = ("--game", GAME, "--part", part, "--output", tmp_path / "out")
    result = azumaya("export", "exams", *words)
    assert result.exit_code == 0, result.output
    rows = rows_of(tmp_path / "out", "positions")
    for row, each in zip(rows, exam.positions, strict=True):
        assert dict(zip(row["moves"], row["values"], strict=True)) == each.values
        assert (row["value"], row["plies_left"], row["seed"]) == (
            each.value, each.plies_left, each.seed,
        )  # fmt: skip
    positions = list(read_positions(tmp_path / "out" / "positions.parquet"))
    assert positions == [exam.start(number) for number in range(len(exam.positions))]
    assert [row["actions"] for row in rows] == [p.legal_actions() for p in positions]


# ---- cards ----


@pytest.mark.parametrize("kind", ["games", "positions"])
def test_the_card_describes_the_file(kind: str, tmp_path: Path) -> None:
    if kind == "games":
        export_games(read_records(some_records(tmp_path, GAME)), tmp_path / "out")
    else:
        export_exam(load_exam(GAME), tmp_path / "out", planes=True)
    file = tmp_path / "out" / f"{kind}.parquet"
    card = json.loads((tmp_path / "out" / CARD).read_bytes())
    (about,) = card["distribution"]
    assert about["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    names = [field["name"] for field in card["recordSet"][0]["field"]]
    assert names == parquet.read_schema(file).names
    assert all(field["description"].endswith(".") for field in card["recordSet"][0]["field"])
    assert told_of(file)["game"] == GAMES[GAME].id
    croissant = pytest.importorskip("mlcroissant")
    dataset = croissant.Dataset(tmp_path / "out" / CARD)
    assert not dataset.metadata.issues.errors
    (first,) = itertools.islice(dataset.records(kind), 1)
    assert first[f"{kind}/position"].decode() == rows_of(tmp_path / "out", kind)[0]["position"]


# ---- refusals ----


def test_what_is_wrong_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    out, file = tmp_path / "out", some_records(tmp_path, GAME)
    (tmp_path / "empty.jsonl").touch()
    for words, message in (
        ((), "name agents that play, or a file of games by --records"),
        (("random", "--records", file), "name agents that play, or a file"),
        (("--records", file, "--game", GAME), "give no options"),
        (("--records", tmp_path / "empty.jsonl"), "there is no game"),
        (("--records", tmp_path / "none.jsonl"), "none.jsonl"),
        (("nobody",), "nobody"),
    ):
        refused(azumaya("export", "games", *words, "--output", out), message)
        assert not out.exists()
    refused(azumaya("export", "exams", "--game", "sudoku_tiles", "--output", out), "has no exam")
    refused(azumaya("export", "games", "random", "--output", file), "is a file; name a folder")
    refused(azumaya("export", "games", "random", "--output", out / "in"), "there is no folder")


def test_a_table_of_one_game_with_one_set_of_options(tmp_path: Path) -> None:
    start = Position("sudoku_moyo", seed=1)
    one = record_actions(start, start.legal_actions()[:1])
    other = Position("sudoku_moyo", seed=1, territory="corners")
    for second, message in (
        (record_actions(other, other.legal_actions()[:1]), "game 1: has other options"),
        (next(read_records(some_records(tmp_path, GAME))), f"game 1: is of {GAME}"),
        (GameRecord(one.environment, {}, one.start, ("a1",), (0, 0)), "game 1: record"),
    ):
        with pytest.raises(RecordError, match=message):
            export_games([one, second], tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_the_metadata_say_where_games_start(tmp_path: Path) -> None:
    """By the options that are the same in all games; a file may be missing where they are read."""
    (file := tmp_path / "mine.txt").write_text("".join(map(str, load_bank()[0].ravel())))
    records = list[GameRecord]()
    for puzzle, starts in (("train", "train"), ("train", "train"), ("test", None), (file, None)):
        start = Position("sudoku_moyo", seed=1, puzzle=puzzle, territory="corners")
        records.append(record_actions(start, start.legal_actions()[:1]))
        export_games(records, tmp_path / "out")
        table = tmp_path / "out" / "games.parquet"
        about = told_of(table)
        assert about["options"] == {"territory": "corners"}
        assert about["starts"] == ({"puzzle": starts} if starts else {})
    export_games(records[-1:], tmp_path / "out")
    file.unlink()
    assert list(read_positions(table)) == visited(records[-1:])
    assert told_of(table)["starts"] == {"puzzle": str(file)}


def test_after_an_error_the_old_table_is_kept(tmp_path: Path) -> None:
    file, out = some_records(tmp_path, GAME), tmp_path / "out"
    export_games(read_records(file), out)
    before = {path: path.read_bytes() for path in out.iterdir()}
    write_records(file, [record_actions(Position("abalone"), ())])
    (broken := tmp_path / "broken.jsonl").write_bytes(file.read_bytes() + b"{}\n")
    result = azumaya("export", "games", "--records", broken, "--output", out)
    refused(result, "broken.jsonl, line 6")
    assert {path: path.read_bytes() for path in out.iterdir()} == before
    (out / "mine.txt").touch()
    with pytest.raises(OptionError, match=r"has other files, such as mine\.txt"):
        export_games(read_records(file), out)


def test_other_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("text")
    parquet.write_table(arrow.table({"position": ["x"]}), tmp_path / "other.parquet")
    for name, message in (("text", "not a Parquet file"), ("other", "not a table of azumaya")):
        with pytest.raises(OptionError, match=message):
            next(read_positions(tmp_path / f"{name}.parquet"))


# ---- learning from a table ----


def test_the_values_of_a_clone_are_what_the_mover_still_gains(tmp_path: Path) -> None:
    """Also where points are paid at once, and do not only say who wins."""
    cloning = pytest.importorskip("azumaya.baselines.training.cloning")
    records, options = list[GameRecord](), {"reward": "points"}
    for seed in range(3):
        rng, position = np.random.default_rng(seed), Position("sudoku_tiles", seed=seed, **options)
        actions, start = [], position.copy()
        while not position.is_over:
            actions.append(int(rng.choice(position.legal_actions())))
            position.play(actions[-1])
        records.append(record_actions(start, actions))
    export_games(records, tmp_path / "out")
    wanted = [
        record.returns[each.to_move] - each.returns()[each.to_move]
        for record in records
        for each in [*replay(record)][:-1]
    ]
    found = cloning.Moves(str(tmp_path / "out" / "games.parquet")).outcomes.tolist()
    assert found == wanted
    assert len({abs(value) for value in wanted}) > 2


def test_a_clone_learns_the_moves_of_a_table(tmp_path: Path, capfd: Any) -> None:
    """Whole starts are held out, as games are repeated; how many threads makes no difference."""
    cloning = pytest.importorskip("azumaya.baselines.training.cloning")
    file = tmp_path / "games.jsonl"
    play_pairing(GAME, "greedy", "greedy", 12, seed=1, record=file)
    export_games(read_records(file), tmp_path / "out")
    table = str(tmp_path / "out" / "games.parquet")
    moves = cloning.Moves(table)
    starts = {str(next(replay(record))) for record in read_records(file)}
    rows = rows_of(tmp_path / "out")
    begun = [{rows[n]["position"] for n in part if not rows[n]["ply"]} for part in
             (moves.learnt, moves.held_out)]  # fmt: skip
    assert begun[0] | begun[1] == starts
    assert not begun[0] & begun[1]
    words = [table, "--network", "plain", "--output", str(tmp_path / "clone"), "--epochs", "8"]
    assert cloning.run_words(words) == 0
    said = capfd.readouterr().out
    assert "epoch 8: " in said
    clone = (tmp_path / "clone.safetensors").read_bytes()
    assert cloning.run_words([*words, "--threads", "3", "--batch", "256"]) == 0
    assert (tmp_path / "clone.safetensors").read_bytes() == clone
    assert "wins kept" in said
    result = azumaya("exam", tmp_path / "clone", "--game", GAME, "--json")
    assert result.exit_code == 0, result.output
    export_games([*read_records(file)][:1], tmp_path / "alike")
    alike = str(tmp_path / "alike" / "games.parquet")
    for words, message in (
        ([], "name one table"),
        ([str(file)], "not a Parquet file"),
        ([table, "--network", "numbers2"], "did you mean 'numbers'"),
        ([table, "--output", "."], "is a folder; name a checkpoint"),
        ([table, "--player", "nobody"], "too few moves of nobody; it has greedy"),
        ([alike], "all games begin alike"),
    ):
        assert cloning.run_words(words) == 2
        assert message in capfd.readouterr().err
