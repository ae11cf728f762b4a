"""Game records: written by the wrapper, read back, replayed, and refused if they do not fit."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pettingzoo.utils.wrappers import BaseWrapper

from azumaya.baselines.cli.contract import is_over, legal_of
from azumaya.envs import GAMES, OptionError, Position, RecordError, make, make_vec, notation, raw
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.game import Option
from azumaya.envs.notation import (
    GameRecord,
    read_record,
    read_records,
    record_actions,
    record_of,
    replay,
    write_records,
)
from azumaya.wrappers import AugmentedAEC, RecordGames
from tests.cases import SHAPES, Case
from tests.vector.cases import FIRST


def play_out(env: object, seed: int) -> None:
    """Play a random game, by the masks that an environment shows."""
    generator = np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        over, legal = terminated or truncated, np.flatnonzero(observation["action_mask"])
        env.step(None if over else int(generator.choice(legal)))


def played(path: Path, game: str, seed: int = 1, **options: object) -> GameRecord:
    """Record one random game."""
    env = RecordGames(make(game, **options), path, players=("Ada", "Bea"))
    play_out(env, seed)
    return list(read_records(path))[-1]


@pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.label)
def test_a_recorded_game_is_played_again(case: Case, tmp_path: Path) -> None:
    record = played(tmp_path / "games.jsonl", case.game.name, **case.options)
    positions = list(replay(record))
    assert len(positions) == len(record.moves) + 1
    assert str(positions[0]) == record.start
    assert positions[-1].is_over
    assert positions[-1].returns() == record.returns
    assert record.players == ("Ada", "Bea")
    assert GameRecord.from_json(record.to_json()) == record


@pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.label)
def test_games_of_a_vector_environment_become_records(case: Case) -> None:
    """A row goes on with another game when one has ended, and the record stops there."""
    games = make_vec(case.game.name, 5, **case.options)
    games.reset(seed=7)
    starts, actions, gains = [games.position(row) for row in range(5)], [], np.zeros((5, 2))
    running = np.ones(5, bool)
    while running.any():
        actions.append(games.random_actions())
        _, _, terminated, truncated, infos = games.step(actions[-1])
        gains[running] += infos["rewards"][running]
        running &= ~(terminated | truncated)
    for row, start in enumerate(starts):
        before = str(start)
        record = record_actions(start, np.array(actions)[:, row], ("Ada", "Bea"))
        assert str(start) == record.start == before
        assert list(replay(record))[-1].is_over
        assert record.returns == tuple(gains[row] + start.returns())
        assert record.players == ("Ada", "Bea")


def test_an_illegal_action_is_named_by_its_number() -> None:
    start = Position("abalone")
    first = start.legal_actions()[0]
    for action in (first, -1, 10**6, 0.5):
        with pytest.raises(RecordError, match=r"^actions: move 3: "):
            record_actions(start, [first, start.copy().play(first).legal_actions()[0], action])  # type: ignore[list-item]


def test_each_game_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    for seed in range(3):
        played(path, "halma_dominari", seed)
    lines = path.read_text().splitlines()
    assert len(lines) == 3
    assert json.loads(lines[0])["environment"] == GAMES["halma_dominari"].id


def test_hidden_tiles_are_in_no_record_before_they_are_drawn() -> None:
    start = Position("sudoku_tiles", seed=8)
    position, moves = start.copy(), []
    for _ in range(5):
        moves.append(position.legal_moves()[0])
        position.play(moves[-1])
    record = record_of(start, moves, position)
    other = start.resample_hidden(99)
    assert str(other) == str(start)
    assert len(record.options["draws"]) == 5, "only the tiles drawn since the start"
    assert [str(p) for p in replay(record)][-1] == str(position)


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.label)
def test_a_record_begins_anew_where_the_position_is_changed(case: Case, tmp_path: Path) -> None:
    """After `set_state` the moves before it no longer lead to the position."""
    env = RecordGames(case.env(), tmp_path / "games.jsonl")
    env.reset(seed=4)
    raw, rng = env.unwrapped, np.random.default_rng(4)
    moments = []
    for _ in range(4):
        moments.append((raw.get_state(), str(raw.position)))
        env.step(int(rng.choice(legal_of(raw))))
    assert env.record().start == moments[0][1]
    for moment, text in (moments[1], moments[2]):
        raw.set_state(moment)
        assert (env.record().start, env.record().moves) == (text, ())
        while not is_over(raw):
            env.step(int(rng.choice(legal_of(raw))))
        end = raw.get_state()
        raw.set_state(moments[3][0])
        raw.set_state(end)
        with pytest.raises(OptionError, match="no game"):
            env.record()
    records = list(read_records(env.path))
    assert [record.start for record in records] == [moments[1][1], moments[2][1]]
    for record in records:
        assert list(replay(record))[-1].is_over


@pytest.mark.parametrize("case", SHAPES, ids=lambda case: case.label)
def test_records_may_start_in_mid_game(case: Case) -> None:
    """What chance revealed before the start is no part of such a record."""
    position, moves = case.position(8), []
    game = [position.copy()]
    while not position.is_over and len(moves) < 8:
        moves.append(position.legal_moves()[-1])
        game.append(position.play(moves[-1]).copy())
    half = len(moves) // 2
    record = record_of(game[half], moves[half:], position)
    assert [str(p) for p in replay(record)] == [str(p) for p in game[half:]]


def test_returns_are_those_of_the_whole_game(tmp_path: Path) -> None:
    """Points that the text of the start gives count, as in its positions, not as in rewards."""
    solved = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
    marks = "".join("." if cell in (0, 40, 80) else n for cell, n in enumerate(solved))
    board = "/".join(marks[i : i + 9] for i in range(0, 81, 9))
    text = f"{board} 0 tile=5 score=55,71"
    env = RecordGames(
        make("sudoku_tiles", reward="points", position=text), tmp_path / "games.jsonl"
    )
    env.reset(seed=1)
    assert env.unwrapped.position.returns() == (-16, 16)
    gained = 0.0
    while not is_over(env.unwrapped):
        env.step(int(legal_of(env.unwrapped)[0]))
        gained += env.rewards["player_0"]
    (record,) = read_records(env.path)
    assert gained
    assert record.returns == (gained - 16, 16 - gained)
    assert list(replay(record))[-1].returns() == record.returns


def test_a_wrong_move_is_named_by_its_number(tmp_path: Path) -> None:
    record = played(tmp_path / "games.jsonl", "sudoku_moyo")
    moves = list(record.moves)
    moves[3] = moves[2]
    with pytest.raises(RecordError, match="move 4"):
        list(replay(replace(record, moves=tuple(moves))))
    with pytest.raises(RecordError, match="the returns are"):
        list(replay(replace(record, returns=record.returns[::-1])))
    with pytest.raises(RecordError, match="cannot begin"):
        list(replay(replace(record, environment="azumaya/chess-v0")))
    with pytest.raises(RecordError, match="cannot begin"):
        list(replay(replace(record, start="nonsense")))


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.label)
def test_moves_are_those_of_the_game_inside(case: Case, tmp_path: Path) -> None:
    """A wrapper that transforms the game maps every action."""
    env = RecordGames(AugmentedAEC(case.raw()), tmp_path / "games.jsonl")
    for seed in range(2):
        play_out(env, seed)
    records = list(read_records(env.path))
    assert len(records) == 2
    for record in records:
        assert list(replay(record))[-1].is_over
    assert list(replay(records[-1]))[-1] == env.unwrapped.position


class Twice(BaseWrapper):
    """Plays a further move after every third one."""

    moves = 0

    def step(self, action: int | None) -> None:
        """Play an action, and sometimes another."""
        super().step(action)
        self.moves += 1
        if self.moves % 3 == 0 and not is_over(self.unwrapped):
            super().step(int(legal_of(self.unwrapped)[-1]))


def test_a_record_begins_anew_after_a_step_of_several_moves(tmp_path: Path) -> None:
    env = RecordGames(Twice(raw("vierer_dominari")), tmp_path / "games.jsonl")
    env.reset(seed=1)
    starts = []
    for _ in range(3):
        env.step(int(legal_of(env.unwrapped)[0]))
        starts.append(env.record().start)
    assert starts[:2] == [str(Position("vierer_dominari", seed=1))] * 2
    assert starts[2] == str(env.unwrapped.position)
    for seed in range(3):
        play_out(env, seed)
    for record in read_records(env.path):
        list(replay(record))


@pytest.mark.parametrize(
    ("game", "given", "kept"),
    [
        ("abalone", {"max_plies": np.int64(6)}, {"max_plies": 6}),
        ("abalone", {"max_plies": 6, "layout": np.str_("swiss_daisy"), "tiebreak": None},
         {"max_plies": 6, "layout": "swiss_daisy"}),
        ("abalone", {"layout": "standard", "max_plies": np.int16(400)}, {}),
        ("sudoku_moyo", {"handicap": (np.int64(0), 2)}, {"handicap": [0, 2]}),
        ("sudoku_moyo", {"handicap": np.array([1, 12])}, {"handicap": [1, 9]}),
        ("sudoku_moyo", {"handicap": [0, 0], "scoring": "win"}, {"handicap": [0, 0]}),
        ("sudoku_moyo", {"puzzle": np.zeros((1, 81), np.uint8)}, {"puzzle": [[0] * 81]}),
        ("sudoku_moyo", {"puzzle": [*np.zeros(81, np.uint8)]}, {"puzzle": [0] * 81}),
        ("halma_dominari", {"setup": [np.str_("123456"), "654321"]},
         {"setup": ["123456", "654321"]}),
    ],
)  # fmt: skip
def test_options_are_recorded_in_canonical_form(
    game: str, given: dict[str, object], kept: dict[str, object], tmp_path: Path
) -> None:
    """Those at their default are left out, and numbers of NumPy are numbers."""
    record = played(tmp_path / "games.jsonl", game, **given)
    assert record.options == kept
    assert list(replay(record))[-1].is_over


def test_options_that_no_record_can_contain_are_refused_before_a_game(tmp_path: Path) -> None:
    class Odd:
        pass

    game = GAMES["abalone"]
    known = (*game.options.known, Option("odd", None, "any", "nothing", lambda value: value))
    other = replace(game, options=replace(game.options, known=known))
    with pytest.raises(OptionError, match=r"odd=.*cannot be recorded: .* contain a O"):
        RecordGames(RawEnv(other, odd=Odd()), tmp_path / "games.jsonl")
    assert RecordGames(RawEnv(other, odd=3), tmp_path / "games.jsonl")


def test_a_record_needs_no_file_of_puzzles(tmp_path: Path) -> None:
    """Its start position has the puzzle."""
    puzzles = tmp_path / "puzzles.txt"
    puzzles.write_text("." * 40 + "5" + "." * 40 + "\n")
    record = played(tmp_path / "games.jsonl", "sudoku_moyo", puzzle=puzzles)
    assert record.options == {"puzzle": str(puzzles)}
    positions = [str(position) for position in replay(record)]
    puzzles.unlink()
    assert [str(position) for position in replay(record)] == positions


@pytest.mark.parametrize("name", ["game", "self", "seed", "colour"])
def test_options_that_the_game_does_not_have(name: str, tmp_path: Path) -> None:
    record = played(tmp_path / "games.jsonl", "abalone", max_plies=4)
    with pytest.raises(RecordError, match=f"cannot begin: unexpected keyword argument '{name}'"):
        list(replay(replace(record, options={**record.options, name: 1})))


def test_a_game_goes_on_in_its_copy(tmp_path: Path) -> None:
    env = RecordGames(make("abalone", max_plies=4), tmp_path / "games.jsonl")
    env.reset(seed=1)
    other = copy(env)
    other.step(int(legal_of(other.unwrapped)[0]))
    assert (len(other.record().moves), len(env.record().moves)) == (1, 0)
    assert env.unwrapped.position != other.unwrapped.position


@pytest.mark.parametrize("line", ["", "{}", "[]", '{"environment": 3}', "{", "\x00"])
def test_malformed_lines(line: str) -> None:
    with pytest.raises(RecordError):
        GameRecord.from_json(line)


def test_malformed_files_say_which_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record = played(path, "abalone", max_plies=4)
    with path.open("a") as file:
        file.write("\nnot json\n")
    write_records(path, [record])
    with pytest.raises(RecordError, match="line 3"):
        list(read_records(path))


def test_a_record_is_found_by_its_line(tmp_path: Path) -> None:
    """By the number that editors and errors give it; other lines may be anything."""
    path = tmp_path / "games.jsonl"
    record = played(path, "abalone", max_plies=4)
    line = path.read_text()
    path.write_text(f"\n{line}not json\n\n{line}")
    assert [read_record(path, number) for number in (2, 5)] == [record, record]
    for number, message in (
        (1, "line 1: it is empty"),
        (3, "line 3: record: "),
        (6, "line 6: the file ends before it"),
        (0, "line=0: a whole number from 1 is needed"),
        ("2", "line='2': a whole number from 1 is needed"),
    ):
        with pytest.raises(RecordError, match=message):
            read_record(path, number)  # type: ignore[arg-type]


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    """Some editors on Windows begin a file with one. Within a file it is no part of a record."""
    path = tmp_path / "games.jsonl"
    record = played(path, "abalone", max_plies=4)
    line = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + line + line)
    assert list(read_records(path)) == [record, record]
    path.write_bytes(line + b"\xef\xbb\xbf" + line)
    with pytest.raises(RecordError, match="line 2"):
        list(read_records(path))


@pytest.mark.parametrize("end", [b"}", b'"returns"', b"\xab"])
def test_a_torn_line_damages_no_other(end: bytes, tmp_path: Path) -> None:
    """A writer may be killed at the end of a line, in its middle, or in the middle of a letter."""
    path = tmp_path / "games.jsonl"
    record = replace(played(path, "abalone", max_plies=4), players=("Zoë", "Bea"))
    whole = record.to_json().encode()
    path.write_bytes(whole[: whole.rindex(end)])
    write_records(path, [record])
    write_records(path, [record])
    assert path.read_bytes().splitlines()[1:] == [whole, whole]
    with pytest.raises(RecordError, match=r"games\.jsonl, line 1: record: "):
        next(read_records(path))


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "games.jsonl"
    record = played(path, "abalone", max_plies=4)
    monkeypatch.setattr(notation, "LONGEST_RECORD", len(record.to_json()) + 1)
    with path.open("a") as file:
        file.write(" " * len(record.to_json()) + "\n" + "x" * 10_000_000)
    records = read_records(path)
    assert next(records) == record
    tracemalloc.start()
    with pytest.raises(RecordError, match=r"games\.jsonl, line 3: a line of more than .* bytes"):
        next(records)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs the endless file /dev/zero")
def test_an_endless_file_is_refused() -> None:
    with pytest.raises(RecordError, match="/dev/zero, line 1: a line of more than 16,777,216 byt"):
        next(read_records("/dev/zero"))


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk; part of the line would still fit."""
    path = tmp_path / "games.jsonl"
    played(path, "abalone", max_plies=4)
    before = path.read_bytes()
    code = (
        "import resource, sys; from azumaya.envs.notation import read_records, write_records\n"
        "records = list(read_records(sys.argv[1])) * 3; size = int(sys.argv[2])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))\n"
        "try:\n    write_records(sys.argv[1], records)\n"
        "except OSError as error:\n    print(error.strerror, error.filename)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(len(before) * 5 // 2)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"File too large {path}\n"
    assert path.read_bytes() == before


def test_only_environments_of_the_library_are_recorded(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="must be an Azumaya environment"):
        RecordGames(type("Other", (), {"unwrapped": None})(), tmp_path / "x")
    env = RecordGames(make("abalone"), tmp_path / "x")
    with pytest.raises(OptionError, match="no game"):
        env.record()


def test_a_file_that_cannot_be_written_is_refused_before_a_game(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for path, problem in (
        (tmp_path, "is a folder"),
        (tmp_path / "none/games.jsonl", "there is no folder"),
        (tmp_path / "file/games.jsonl", "there is no folder"),
        (tmp_path / ("x" * 999), "must be a file that can be written"),
        ("a\0b", "must be a file that can be written"),
        (None, "must be a file that can be written"),
    ):
        with pytest.raises(OptionError, match=f"path=.*{problem}"):
            RecordGames(make("abalone"), path)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("players", [("a",), ("a", "b", "c"), "ab", ("a", 1), None])
def test_players_are_two_names(players: object, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"players=.*two names"):
        RecordGames(make("abalone"), tmp_path / "x", players=players)
    position = Position("abalone")
    with pytest.raises(OptionError, match=r"players=.*two names"):
        record_of(position, [], position, players)
    assert not list(tmp_path.iterdir())


def test_unfinished_games_say_so(tmp_path: Path) -> None:
    start = Position("abalone")
    moves = start.legal_moves()[:1]
    record = record_of(start, moves, start.copy().play(moves[0]))
    assert not record.finished
    assert GameRecord.from_json(record.to_json()) == record
    assert len(list(replay(record))) == 2
    with pytest.raises(RecordError, match="finished is True, but after its moves the game goes on"):
        list(replay(replace(record, finished=True)))
    over = played(tmp_path / "games.jsonl", "abalone", max_plies=4)
    with pytest.raises(RecordError, match="finished is False, but after its moves the game is ov"):
        list(replay(replace(over, finished=False)))


def test_records_without_the_field_finished(tmp_path: Path) -> None:
    """Records older than this field may be of unfinished games, which is not checked."""
    start = Position("abalone")
    moves = start.legal_moves()[:1]
    unfinished = record_of(start, moves, start.copy().play(moves[0]))
    finished = played(tmp_path / "games.jsonl", "abalone", max_plies=4)
    for record in (unfinished, finished):
        line = json.loads(record.to_json())
        del line["finished"]
        old = GameRecord.from_json(json.dumps(line))
        assert old.finished is None
        assert len(list(replay(old))) == len(record.moves) + 1
        assert GameRecord.from_json(old.to_json()) == old


def test_paths_and_players_are_checked_when_they_are_set(tmp_path: Path) -> None:
    """Not when a game is over, which would be lost."""
    env = RecordGames(raw("abalone"), tmp_path / "games.jsonl", ("Ada", "Bea"))
    with pytest.raises(OptionError, match="path="):
        env.path = tmp_path
    with pytest.raises(OptionError, match="players="):
        env.players = "Ada"  # type: ignore[assignment]
    assert (env.path, env.players) == (tmp_path / "games.jsonl", ("Ada", "Bea"))
    env.players = "Bea", "Ada"
    env.reset(seed=1)
    assert env.record().players == ("Bea", "Ada")
