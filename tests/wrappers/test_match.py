"""The match: two games on the same puzzle with swapped roles; the sum decides."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import numpy as np
import pytest

from azumaya.envs import OptionError, Position, PositionError, raw, sudoku_moyo_v0
from azumaya.envs.games.sudoku_moyo.game import MOYO
from azumaya.envs.games.sudoku_moyo_match.game import MATCH
from azumaya.envs.notation import read_records, replay
from azumaya.envs.setup import prepare
from azumaya.wrappers import Match, RecordGames

VARIANTS = [
    {},
    {"handicap": (1, 2)},
    {"setup": "choose"},
    {"territory": "draft", "setup": "choose", "handicap": (0, 1)},
    {"territory": "rows", "scoring": "win"},
]


def ended(env: Match) -> bool:
    """Whether the match is over."""
    return any(env.terminations.values())


def play(env: Match, seed: int) -> list[tuple[str, dict[str, float]]]:
    """Play a match at random; returns the position text before each step and its rewards."""
    generator, steps = random.Random(seed), []
    while not ended(env):
        text = str(env.position)
        env.step(generator.choice(env.position.legal_actions()))
        steps.append((text, dict(env.rewards)))
    return steps


def words(text: str) -> dict[str, str]:
    """The named fields of a position text."""
    return dict(part.split("=") for part in text.split()[2:])


def single_game(text: str, options: dict[str, object]) -> Position:
    """The current game of a match as a single game scored by points."""
    match = Position.from_text(MATCH, text, **options).state
    states = MOYO.new_states(1)
    for name in MOYO.rules.state.names:
        states[name] = match[name]
    return Position.of_states(MOYO, prepare(MOYO, {**options, "scoring": "points"}), states)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_both_halves_are_single_games(options: dict[str, object], seed: int) -> None:
    """Each half is a game of Sudoku Moyo scored by points; their returns decide the match."""
    env = Match(sudoku_moyo_v0.raw_env(**options))
    env.reset(seed=seed)
    steps = play(env, seed)
    assert all(not any(rewards.values()) for _, rewards in steps[:-1])
    halves = [[t for t, _ in steps if words(t)["game"] == game] for game in "12"]
    first = int(words(halves[1][0]).get("first", "0")) if halves[1] else 0
    gains = [gain_of(half[-1], options) for half in halves]
    assert gains[0] == first
    total = sum(gains)
    assert env.rewards["player_0"] == (total > 0) - (total < 0)


def gain_of(last: str, options: dict[str, object]) -> int:
    """What player_0 gains when a game is played to its end from its last position."""
    game = single_game(last, options)
    for action in game.legal_actions():
        after = game.copy().play(action)
        if after.is_over:
            return after.returns()[0]
    raise AssertionError(f"{last}: no move ends this game, though one did in the match")


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_the_second_game_swaps_the_roles(options: dict[str, object]) -> None:
    env = Match(sudoku_moyo_v0.raw_env(**options))
    env.reset(seed=4)
    first_play = second = None
    for text, _ in play(env, 4):
        place = words(text)
        if "stage" not in place and first_play is None:
            first_play = text
        if place["game"] == "2" and second is None:
            second = text
    assert first_play is not None
    assert second is not None
    light = [int(words(text).get("light", "0")) for text in (first_play, second)]
    assert light[0] != light[1]
    assert words(first_play).get("owners") == words(second).get("owners")
    puzzle = words(second)["puzzle"]
    assert second.split()[0].replace("/", "") == puzzle, "the second game begins with the puzzle"
    if "handicap" not in options:
        sides = [text.split()[1] for text in (first_play, second)]
        starters = ["ld".index(s) ^ lt for s, lt in zip(sides, light, strict=True)]
        assert starters[0] != starters[1]
    else:
        player, stones = options["handicap"]  # type: ignore[misc]
        assert words(second)["handicap"] == f"{player},{stones}"


def test_texts_start_matches_and_pickles_continue() -> None:
    env = Match(sudoku_moyo_v0.raw_env(handicap=(0, 1)))
    env.reset(seed=7)
    steps = play(env, 7)
    for text, _ in steps[::9]:
        again = Match(sudoku_moyo_v0.raw_env(handicap=(0, 1)))
        again.reset(options={"position": text})
        assert str(again.position) == text
        assert pickle.loads(pickle.dumps(again)).position == again.position
    over = str(env.position)
    assert str(Position.from_text(MATCH, over, handicap=(0, 1))) == over
    with pytest.raises(PositionError, match="over"):
        again.reset(options={"position": over})


@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("game=3", "from 1 to 2"),
        ("foo=1", "known fields: began=..., first=..., game=..., .* puzzle=..., "),
        ("game=", "the field game= has no value"),
        ("\ngame=1", "must be a single line"),
        ("first=4", "second game"),
        ("puzzle=12", "81 digits"),
        (f"puzzle={'5' * 81}", "twice"),
        (f"puzzle={'.' * 80}1", "does not lie on the board"),
    ],
)
def test_impossible_matches_are_refused(word: str, error: str) -> None:
    env = Match(sudoku_moyo_v0.raw_env())
    env.reset(seed=1)
    board, mover = str(env.position).split()[:2]
    with pytest.raises(PositionError, match=error):
        Position.from_text(MATCH, f"{board} {mover} {word}")


EMPTY = "/".join(["........."] * 9)


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ("l game=2 stage=draft owners=????.????", {"territory": "draft"}, "nothing is drafted or"),
        ("l game=2 stage=colour", {"setup": "choose"}, "nothing is drafted or chosen again"),
        ("d game=2 stage=starter", {"setup": "choose"}, "nothing is drafted or chosen again"),
        ("l game=2", {}, "light=1 is needed"),
        ("l game=2 owners=LDLL.DDLD", {"territory": "draft"}, "light=1 is needed"),
        ("l light=1", {}, "light=1 needs"),
        ("l began=1", {}, "began=1 needs"),
        ("d light=1 game=2 began=1", {}, "began=1 needs"),
        ("l began=1 stage=colour", {"setup": "choose"}, "began=1 needs"),
        ("d began=1 stage=starter", {"setup": "choose"}, "began=1 needs"),
        ("l began=1 stage=draft owners=????.????", {"territory": "draft", "setup": "choose"},
         "began=1 needs"),
        ("l stage=handicap handicap=0,2 starter=1", {"setup": "choose", "handicap": (0, 2)},
         "must agree"),
        ("d light=1 game=2 stage=handicap handicap=0,2", {"handicap": (0, 2)}, "must agree"),
        ("l stage=handicap handicap=0,1", {}, "it must be 0,0"),
        ("d stage=handicap handicap=1,1", {"handicap": (0, 2)}, "must be from 0,1 to 0,2"),
        ("l stage=handicap handicap=0,3", {"handicap": (0, 2)}, "must be from 0,1 to 0,2"),
        ("d light=1 game=2 stage=handicap handicap=0,3 starter=1", {"handicap": (0, 2)},
         "must be from 0,1 to 0,2"),
        ("l stage=colour", {"setup": "choose", "handicap": (0, 2)}, "it must be 0,2"),
        ("l stage=colour handicap=0,1", {"setup": "choose"}, "it must be 0,0"),
    ],
)  # fmt: skip
def test_impossible_roles_are_refused(text: str, options: dict[str, object], error: str) -> None:
    """Nothing is chosen in the second game, and its roles are those of the first, swapped."""
    with pytest.raises(PositionError, match=error):
        Position.from_text(MATCH, f"{EMPTY} {text}", **options)


def test_the_last_move_of_the_first_game_is_not_marked_in_the_second() -> None:
    """On the fresh board its cell is empty."""
    position, rng = Position(MATCH, seed=1), random.Random(1)
    while not position.state["game"][0]:
        action = rng.choice(position.legal_actions())
        position.play(action)
        (cell,) = position.action_cells(action)
        wanted = set() if position.state["game"][0] else {cell}
        assert position.scene(action).last == wanted


def test_only_raw_moyo_can_be_matched() -> None:
    for env in (raw("abalone"), sudoku_moyo_v0.env(), None):
        with pytest.raises(OptionError, match="raw Sudoku Moyo"):
            Match(env)
    env = Match(sudoku_moyo_v0.raw_env())
    assert env.unwrapped is env


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_a_recorded_match_is_played_again(options: dict[str, object], tmp_path: Path) -> None:
    match = Match(sudoku_moyo_v0.raw_env(**options))
    env = RecordGames(match, tmp_path / "matches.jsonl")
    env.reset(seed=4)
    texts, generator = [str(match.position)], random.Random(4)
    while not ended(match):
        env.step(generator.choice(match.position.legal_actions()))
        texts.append(str(match.position))
    (record,) = read_records(tmp_path / "matches.jsonl")
    assert record.environment == "azumaya/sudoku_moyo_match-v0"
    assert [str(position) for position in replay(record)] == texts


@pytest.mark.parametrize("seed", range(3))
def test_observations_are_those_of_the_single_game_and_the_puzzle(seed: int) -> None:
    """Nine more planes show the givens; they stay while the game goes on."""
    env = Match(sudoku_moyo_v0.raw_env())
    env.reset(seed=seed)
    givens = str(env.position).split()[0].replace("/", "")
    planes = env.position.game.observation.planes
    names = [plane.name for plane in planes]
    first = names.index("given 1")
    for _ in range(5):
        position = env.position
        seen = position.observation(position.to_move)
        alone = single_game(str(position), {}).observation(position.to_move)
        cells = position.game.observation.cell_planes - 9
        assert first == cells
        assert np.array_equal(seen[:cells], alone[:cells])
        for n in range(9):
            there = [i for i, mark in enumerate(givens) if mark == str(n + 1)]
            assert np.flatnonzero(seen[first + n]).tolist() == there
        legal = position.legal_actions()
        env.step(legal[seed % len(legal)])
