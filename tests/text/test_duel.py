"""Games driven from outside: what the model is asked, and how its answers count."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from azumaya.baselines.agents import Agent, GreedyAgent, RandomAgent
from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.text import TextDuel
from azumaya.envs import OptionError, Position
from tests.cases import TESTED

GAME = "vierer_dominari"


def play_out(duel: TextDuel, rng: random.Random, mistakes: bool = False) -> list[str]:
    """Answer until the game is over; returns the questions."""
    questions = []
    while duel.question is not None:
        questions.append(duel.question)
        if mistakes and len(questions) % 5 == 2:
            duel.answer("Let me see.")
        assert duel.question is not None
        duel.answer(f"move: {rng.choice(duel.position.legal_moves())}")
    return questions


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("game", TESTED)
def test_a_model_plays_whole_games_in_either_seat(game: str, seat: int) -> None:
    options = {"max_plies": 40} if game == "abalone" else {}
    start = Position(game, seed=4, **options)
    before = str(start)
    duel = TextDuel(start, RandomAgent(), seat, seed=3)
    questions = play_out(duel, random.Random(seat), mistakes=True)
    assert str(start) == before
    assert duel.position.is_over
    gain = duel.position.returns()[seat]
    assert duel.result == (1.0 if gain > 0 else 0.5 if gain == 0 else 0.0)
    assert duel.tally.unreadable == (len(questions) + 3) // 5
    assert duel.tally.turns == len(questions)
    answers = len(questions) + duel.tally.unreadable
    assert duel.legal_share == pytest.approx(len(questions) / answers)
    assert all(f"You are player_{seat}." in question for question in questions)
    again = Position(game, seed=4, **options)
    for move in duel.moves:
        again.play(move)
    assert str(again) == str(duel.position)


def test_the_history_is_told_once_and_then_what_is_new() -> None:
    duel = TextDuel(Position(GAME), GreedyAgent(), 1, legal_moves=True)
    questions = play_out(duel, random.Random(1))
    assert questions[0].startswith(f"Moves so far: {duel.moves[0]}\n")
    for question in questions[1:]:
        assert question.startswith("player_0 plays ")
        assert "Moves so far" not in question
    assert all("Legal moves: " in question for question in questions)
    assert "Legal moves" not in str(TextDuel(Position(GAME), GreedyAgent(), 1).question)


def test_the_same_answers_give_the_same_game() -> None:
    for name in ("random", "greedy"):
        games = [TextDuel(Position(GAME), name, 0, seed=9) for _ in range(2)]
        for duel in games:
            play_out(duel, random.Random(2))
        assert games[0].moves == games[1].moves


def test_too_many_bad_answers_forfeit() -> None:
    duel = TextDuel(Position(GAME), RandomAgent(), 0, tries=2)
    assert duel.legal_share == 0, "a model that is cut off at once gets nothing for it"
    assert duel.result == 0, "an open game counts as lost"
    asked = duel.answer("move: 1a9")
    assert asked is not None
    assert asked.startswith("No move could be read in '1a9'")
    assert duel.answer("move: ?") is None
    assert duel.forfeited
    assert duel.result == duel.legal_share == 0
    assert duel.moves == []
    with pytest.raises(OptionError, match="the game is over"):
        duel.answer("move: 3c4")


def test_tries_begin_anew_with_each_move() -> None:
    duel = TextDuel(Position(GAME), RandomAgent(), 0, tries=2)
    for _ in range(3):
        duel.answer("hm")
        duel.answer(f"move: {duel.position.legal_moves()[0]}")
    assert not duel.forfeited
    assert duel.legal_share == 0.5


class Pushover(Agent):
    """An agent that answers by names, and fails in its third turn."""

    name = "pushover"
    turns = 0

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        self.turns += 1
        if self.turns == 3:
            raise ZeroDivisionError("nothing left")
        return [position.legal_moves()[-1] for position in positions]  # type: ignore[misc]


def test_an_agent_may_name_its_move_and_is_named_where_it_fails() -> None:
    """After that the model is not asked for the agent's move."""
    duel = TextDuel(Position(GAME), Pushover(), 1)
    assert duel.moves == Position(GAME).legal_moves()[-1:]
    duel.answer(f"move: {duel.position.legal_moves()[0]}")
    assert len(duel.moves) == 3
    with pytest.raises(AgentFailedError, match="agent pushover: act failed: ZeroDivisionError"):
        duel.answer(f"move: {duel.position.legal_moves()[0]}")
    assert duel.question is None
    with pytest.raises(OptionError, match=r"answer: .*the agent has failed"):
        duel.answer(f"move: {duel.position.legal_moves()[0]}")
    assert len(duel.moves) == 4


@pytest.mark.parametrize(("argument", "value"), [("seat", 2), ("tries", 0), ("seed", -1)])
def test_wrong_arguments_are_named(argument: str, value: int) -> None:
    given = {"seat": 0, argument: value}
    with pytest.raises(OptionError, match=f"{argument}={value}"):
        TextDuel(Position(GAME), RandomAgent(), **given)  # type: ignore[arg-type]
