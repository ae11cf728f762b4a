"""Pairings, their scores, and tables and plots of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from azumaya.baselines.agents import GreedyAgent, RandomAgent, compiled
from azumaya.baselines.agents.base import GameStates, acts_on_states
from azumaya.baselines.arena import report, rounds
from azumaya.baselines.arena.intervals import of_pairs
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.arena.rounds import Score, WrongMoveError
from azumaya.baselines.arena.starts import balanced_starts
from azumaya.baselines.search import UCTAgent
from azumaya.envs import IllegalActionError, OptionError, Position
from azumaya.envs.notation import read_records, replay
from azumaya.envs.position import episode_key
from azumaya.envs.setup import POSITION, prepare
from tests.baselines.plain_matches import play_plainly
from tests.cases import TESTED, YARDSTICK, nightly

FEW = ("sudoku_tiles", "score_dominari", YARDSTICK.name)
"""Games whose kernels are compiled each time; those of the others are compiled nightly."""
some_games = pytest.mark.parametrize("game", nightly(TESTED, FEW))

SCORE = Score("policy", "random", 6, 8, 6, by_seat=(5, 1), draws_by_seat=(2, 6))


def table_at(columns: int, *scores: Score) -> str:
    console = Console(width=columns)
    with console.capture() as shown:
        console.print(report.score_table(scores, "a title"))
    return shown.get()


def test_draws_count_half_in_every_rate() -> None:
    assert SCORE.rate == 0.5
    assert SCORE.rate_by_seat == (0.6, 0.4)
    assert sum(SCORE.rate_by_seat) / 2 == SCORE.rate


@some_games
def test_swapping_the_agents_mirrors_a_pairing(game: str) -> None:
    one = play_pairing(game, GreedyAgent(), RandomAgent(), starts=40, seed=1)
    assert one == play_pairing(game, GreedyAgent(), RandomAgent(), starts=40, seed=1)
    other = play_pairing(game, RandomAgent(), GreedyAgent(), starts=40, seed=1)
    assert one.games == other.games == 80
    assert sum(halves * n for halves, n in enumerate(one.pairs)) == 2 * 80 * one.rate
    assert sum(one.pairs) == 40
    assert (sum(one.by_seat), sum(one.draws_by_seat)) == (one.wins, one.draws)
    assert sum(one.rate_by_seat) / 2 == pytest.approx(one.rate)
    assert one.interval() == of_pairs(one.pairs)
    assert one.rate > 0.5 > other.rate, "greedy should beat random in every game"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": 0}, "starts=0: a whole number from 1 to 1000000 is needed"),
        ({"starts": -1}, "starts=-1: a whole number from 1"),
        ({"starts": 2**62}, "starts=4611686018427387904: a whole number from 1 to 1000000"),
        ({"starts": 2.0}, "starts=2.0: a whole number"),
        ({"first": "nope"}, "agent 'nope': must be random, greedy, "),
        ({"first": 3}, r"first=3: must be an agent, .*, or the name of one, such as 'greedy'"),
        ({"second": RandomAgent}, r"second=.*; this is a class; .*: RandomAgent\(...\)"),
        ({"second": None}, r"second=None: must be an agent, an object with act\(positions, keys\)"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**64 - 1, "starts": 2}, f"seed={2**64 - 1}, starts=2: .*fewer starts"),
        ({"game": "nope"}, "no such game"),
    ],
)
def test_impossible_pairings_are_refused(changes: dict[str, Any], message: str) -> None:
    given = {"game": next(iter(TESTED)), "first": RandomAgent(), "second": RandomAgent()}
    with pytest.raises(OptionError, match=message):
        play_pairing(**{**given, "starts": 1, **changes})


VARIED = {"abalone": {"max_plies": 60, "tiebreak": "marbles"}, "sudoku_moyo": {"scoring": "points"}}


@some_games
def test_games_as_state_records_give_the_same_score_as_object_by_object(game: str) -> None:
    """Compiled against compiled, and compiled against an agent that is asked with positions."""
    options, seed = VARIED.get(game, {}), 2**63 + 11
    agents = GreedyAgent(), RandomAgent()
    expected = play_plainly(game, agents, 3, seed, options)
    assert expected.wins + expected.losses
    assert play_pairing(game, *agents, 3, seed, options, balanced=False) == expected
    slow = Mine()
    slow.name = "random"  # type: ignore[attr-defined]
    assert play_pairing(game, agents[0], slow, 3, seed, options, balanced=False) == expected
    back = play_pairing(game, agents[1], agents[0], 3, seed, options, balanced=False)
    assert back == play_plainly(game, agents[::-1], 3, seed, options)


@some_games
def test_the_games_of_a_pairing_are_recorded(game: str, tmp_path: Path) -> None:
    """Those of compiled agents, and of one that is asked with positions."""
    options, seed, file = VARIED.get(game, {}), 2**63 + 11, tmp_path / "games.jsonl"
    scores = [
        play_pairing(game, "greedy", second, 3, seed, options, record=file)
        for second in (RandomAgent(), Mine())
    ]
    assert scores[0] == play_pairing(game, "greedy", "random", 3, seed, options)
    records = list(read_records(file))
    assert len(records) == sum(score.games for score in scores)
    for record in records:
        assert list(replay(record))[-1].is_over
    for score, played in zip(scores, (records[:6], records[6:]), strict=True):
        names = "greedy", score.second
        assert [r.players for r in played] == [names, names[::-1]] * 3
        assert [r.start for r in played[::2]] == [r.start for r in played[1::2]]
        gains = [r.returns[n % 2] for n, r in enumerate(played)]
        assert [sum(g > 0 for g in gains), gains.count(0)] == [score.wins, score.draws]


def test_a_file_that_cannot_hold_records_is_refused_before_any_game(tmp_path: Path) -> None:
    class Asked:
        def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
            raise AssertionError("a game was begun")

    for path in (tmp_path, tmp_path / "none" / "games.jsonl"):
        with pytest.raises(OptionError, match=r"^record="):
            play_pairing("abalone", Asked(), Asked(), 1, record=path)


def test_keys_are_those_of_one_agent_in_one_game() -> None:
    """Neither does the other agent see the same hidden draws, nor is a key that of a start."""
    asked = list[int]()

    class Asked:
        def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
            asked.extend(keys)
            return RandomAgent().act(positions, keys)

    play_pairing("vierer_dominari", Asked(), Asked(), 5, 7, {}, balanced=False)
    assert len(set(asked)) == len(asked) > 100
    assert not set(asked) & {int(episode_key(7 + number, 0, 0)) for number in range(5)}


def test_search_gives_the_same_score_as_object_by_object() -> None:
    game, agents = "score_dominari", (UCTAgent(30), GreedyAgent())
    expected = play_plainly(game, agents, 2, 5)
    assert play_pairing(game, *agents, 2, 5, balanced=False) == expected


def test_greedy_in_threads_chooses_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    game, scores = "score_dominari", []
    for least in (1, 1 << 20):
        monkeypatch.setattr(compiled, "LEAST", least)
        monkeypatch.setattr(compiled, "available_cores", lambda: 3)
        scores.append(play_pairing(game, GreedyAgent(), RandomAgent(), 20, 1))
    assert scores[0] == scores[1]


def test_a_subclass_that_overrides_act_is_asked_by_act() -> None:
    class First(GreedyAgent):
        def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
            return [position.legal_actions()[0] for position in positions]

    agent = GreedyAgent()
    assert acts_on_states(agent)
    assert not acts_on_states(First())
    assert not acts_on_states(Mine())
    agent.act = First().act  # type: ignore[method-assign]
    assert not acts_on_states(agent)


class OnStates(RandomAgent):
    """A fast path whose answer is changed."""

    def __init__(self, answer: Callable[[np.ndarray], Any]) -> None:
        self.answer = answer

    def act_states(self, positions: GameStates, keys: np.ndarray) -> Any:
        return self.answer(super().act_states(positions, keys))


# ---- starts ----

GAME = "vierer_dominari"


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A book of three starts for every game."""
    position = Position(GAME)
    texts = tuple(str(position.play(position.legal_actions()[0])) for _ in range(3))
    monkeypatch.setattr(rounds, "balanced_starts", lambda game: texts)
    return texts


def first_texts(starts: rounds.StartSet, count: int) -> list[str]:
    games = rounds.Rounds(starts, range(count), [0] * count)
    return [str(games.position(i)) for i in range(count)]


def test_balanced_starts_are_the_default_and_each_is_used_before_any_is_repeated(
    book: tuple[str, ...],
) -> None:
    texts = first_texts(rounds.start_set(GAME, None, 4), 6)
    assert sorted(texts[:3]) == sorted(book)
    assert texts[3:] == texts[:3]
    orders = {tuple(first_texts(rounds.start_set(GAME, None, seed), 3)) for seed in range(20)}
    assert len(orders) == 6
    agents = RandomAgent(), RandomAgent()
    plain = play_pairing(GAME, *agents, 20, 4, balanced=False)
    assert plain == play_plainly(GAME, agents, 20, 4)
    assert plain != play_pairing(GAME, *agents, 20, 4)


def test_starts_are_counted_by_what_they_are(book: tuple[str, ...]) -> None:
    assert [rounds.start_set(GAME).different(starts) for starts in (2, 3, 9)] == [2, 3, 3]
    assert rounds.start_set(GAME, balanced=False).different(9) == 1
    assert rounds.start_set("halma_dominari", balanced=False).different(9) == 9


def test_options_that_the_book_does_not_cover_have_plain_starts(book: tuple[str, ...]) -> None:
    position = str(Position(GAME))
    assert rounds.start_set(GAME, {"referee": True}).balanced  # the default, spelt out
    assert rounds.start_set(GAME, {"referee": None}).balanced
    assert not rounds.start_set(GAME, {"referee": False}).balanced
    assert not rounds.start_set(GAME, {"position": position}).balanced
    assert not rounds.start_set(GAME, balanced=False).balanced
    assert rounds.start_set(GAME).balanced


@pytest.mark.parametrize("game", TESTED)
def test_default_options_of_every_game_can_be_told_from_others(game: str) -> None:
    chosen = TESTED[game]
    defaults = {option.name: option.default for option in chosen.options}
    has_book = bool(balanced_starts(game))
    assert rounds.start_set(game, defaults).balanced == has_book
    usual = prepare(chosen, defaults).settings
    for options in chosen.options.variants:
        plain = POSITION in options or prepare(chosen, options).settings != usual
        assert rounds.start_set(game, options).balanced == (has_book and not plain), options


def test_every_start_has_a_seed_up_to_the_last_one() -> None:
    game = next(iter(TESTED))
    score = play_pairing(game, RandomAgent(), RandomAgent(), starts=2, seed=2**64 - 2)
    assert score.games == 4


class Mine:
    """An agent without a base class; `answer` turns its actions into the result of `act`."""

    def __init__(self, answer: Callable[[list[int]], Any] = list) -> None:
        self.answer = answer

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        return self.answer(RandomAgent().act(positions, keys))


def test_anything_with_act_is_an_agent() -> None:
    game, named = next(iter(TESTED)), Mine()
    named.name = "own"  # type: ignore[attr-defined]
    score = play_pairing(game, Mine(), named, starts=2, seed=1)
    assert (score.first, score.second) == ("Mine", "own")
    like = play_pairing(game, RandomAgent(), RandomAgent(), starts=2, seed=1)
    assert (score.wins, score.by_seat) == (like.wins, like.by_seat)


@pytest.mark.parametrize(
    ("make", "answer", "message"),
    [
        (OnStates, lambda actions: actions[:-1], r"random: act_states gave .* of shape \(3,\)"),
        (OnStates, lambda actions: actions * 1.0, "random: act_states gave .* type float64"),
        (OnStates, lambda actions: actions * 0 - 1, "random's action=-1: not an action of"),
        (OnStates, lambda actions: actions * 0 + (1 << 40), "random's action=1099511627776: not"),
        (OnStates, lambda actions: actions * 0, "random's "),
        (Mine, lambda actions: None, "Mine: act returned None for 4 positions"),
        (Mine, lambda actions: actions[:-1], r"Mine: act returned \[.*\] for 4 positions"),
        (Mine, lambda actions: [*actions, 0], r"Mine: act returned \[.*\] for 4 positions"),
        (Mine, lambda actions: [-1 for _ in actions], "Mine's action=-1: not an action of"),
        (Mine, lambda actions: ["?" for _ in actions], "Mine's "),
    ],
)
def test_errors_name_the_agent_at_fault(make: Any, answer: Any, message: str) -> None:
    with pytest.raises(WrongMoveError, match=message) as caught:
        play_pairing("score_dominari", GreedyAgent(), make(answer), starts=2, seed=1)
    assert isinstance(caught.value, IllegalActionError)
    assert caught.value.which == 1


def test_the_table_fits_sixty_columns() -> None:
    lines = table_at(60, SCORE, Score("policy", "greedy", 1000, 1000, 1000)).splitlines()
    assert max(map(len, lines)) <= 60
    text = "\n".join(lines)
    assert "…" not in text
    assert "95 % interval" in text
    assert "A draw counts half" in " ".join(text.split())
    row = next(i for i, line in enumerate(lines) if "policy" in line)
    assert lines[row].split() == ["policy", "6", "8", "6", "50.0%", "[29.9,", "70.1]", "60%"]
    assert lines[row + 1].split() == ["random", "40%"]
