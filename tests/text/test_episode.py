"""Games with scripted models, over all games."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.text import (
    TextDuel,
    play_text_game,
    position_prompt,
    read_answer,
    rules_prompt,
)
from azumaya.baselines.text.episode import Message
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.notation import replay
from tests.cases import TESTED


def good(messages: list[Message]) -> str:
    """A model that plays the first of the legal moves it is shown."""
    listed = re.search(r"Legal moves: (\S+)", messages[1]["content"])
    assert listed is not None
    return f"I have looked at everything.\nmove: {listed[1]}"


def slow_to_learn(messages: list[Message]) -> str:
    """A model whose first try is unreadable; the second is right."""
    return good(messages) if len(messages) > 2 else "I am not sure."


@pytest.mark.parametrize("game", TESTED)
def test_a_scripted_model_plays_whole_games(game: str) -> None:
    options = {"max_plies": 40} if game == "abalone" else {}
    start = Position(game, seed=4, **options)
    before = str(start)
    result = play_text_game(start, good, RandomAgent(), legal_moves=True, seed=5)
    again = play_text_game(start, good, "random", legal_moves=True, seed=5)
    assert str(start) == before
    assert result.forfeited is None
    assert result.record.finished
    assert result.record == again.record
    assert result.record.players == ("good", "random")
    assert result.tallies[0].turns > 0
    assert result.tallies[0].illegal == result.tallies[0].unreadable == 0
    assert result.tallies[1].turns == 0
    if game in GAMES:
        assert list(replay(result.record))[-1].is_over


def test_second_tries_are_counted_and_told_why() -> None:
    start = Position("vierer_dominari")
    result = play_text_game(start, slow_to_learn, good, legal_moves=True)
    first, second = result.tallies
    assert first.unreadable == first.turns > 0
    assert second.unreadable == 0
    refusals = [m for m in result.transcript if "could be read" in m["content"]]
    assert len(refusals) == first.turns
    assert {m["player"] for m in refusals} == {0}


def test_who_finds_no_legal_move_forfeits_or_plays_at_random() -> None:
    start = Position("sudoku_moyo", seed=1)

    def stubborn(messages: list[Message]) -> str:
        return "move: 2a8"

    lost = play_text_game(start, stubborn, RandomAgent(), tries=2)
    assert lost.forfeited == 0
    assert lost.returns == (-1.0, 1.0)
    assert lost.record.moves == ()
    assert not lost.record.finished
    assert lost.tallies[0].illegal == 2
    played = play_text_game(start, stubborn, RandomAgent(), tries=1, failure="random")
    assert played.forfeited is None
    assert played.record.finished
    assert played.tallies[0].illegal > 1


class Fixed:
    """An agent without a name, which gives the same answer whatever it is asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        """The answer."""
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (["1a9"], "agent Fixed: name='1a9': "),
        ([9999], "agent Fixed: action=9999: not an action of Vierer-Dominari"),
        ([0.0], "agent Fixed: action=0.0: not an action"),
        ([0, 1], r"Fixed: act returned \[0, 1\] for 1 positions"),
        (None, "Fixed: act returned None for 1 positions"),
    ],
)
def test_an_agent_that_gives_no_legal_move_is_named(answer: Any, message: str) -> None:
    with pytest.raises(AgentFailedError, match=message):
        play_text_game(Position("vierer_dominari"), Fixed(answer), good)  # type: ignore[arg-type]


def test_wrong_arguments_are_named() -> None:
    start = Position("vierer_dominari")
    with pytest.raises(OptionError, match="tries"):
        play_text_game(start, good, good, tries=0)
    with pytest.raises(OptionError, match="failure"):
        play_text_game(start, good, good, failure="resign")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="player_0 answered 5: must be a text, or None"):
        play_text_game(start, lambda messages: 5, good)  # type: ignore[arg-type, return-value]


def test_the_name_of_a_game_is_no_position() -> None:
    for takes in (
        rules_prompt,
        position_prompt,
        lambda position: read_answer(position, "move: 1a1"),
        lambda position: TextDuel(position, "random", 0),
        lambda position: play_text_game(position, "random", "random"),
    ):
        with pytest.raises(OptionError, match="position='abalone': a Position is needed"):
            takes("abalone")  # type: ignore[arg-type, operator]


def test_an_empty_answer_is_one_that_cannot_be_read() -> None:
    """A chat interface gives None for a refusal."""
    start = Position("vierer_dominari")

    def silent(messages: list[Message]) -> str | None:
        return None if len(messages) == 2 else good(messages)

    result = play_text_game(start, silent, RandomAgent(), legal_moves=True)
    assert result.forfeited is None
    assert result.tallies[0].unreadable == result.tallies[0].turns > 0
    assert next(m["content"] for m in result.transcript if m["role"] == "assistant") == ""
