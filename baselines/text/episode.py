"""Whole games in which language models play, with counts of what they got wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from azumaya.baselines.agents.asking import action_of, name_of
from azumaya.baselines.agents.names import find_agent
from azumaya.baselines.text.answers import Answer, read_answer
from azumaya.baselines.text.prompts import position_prompt, rules_prompt
from azumaya.envs import OptionError, Position
from azumaya.envs.adapters.duel.asked import check_position
from azumaya.envs.adapters.duel.opponents import Opponent, is_agent
from azumaya.envs.errors import brief
from azumaya.envs.game import one_of
from azumaya.envs.notation import GameRecord, record_of
from azumaya.envs.position import check_seed, episode_key
from azumaya.envs.whole import whole_number

Message = dict[str, str]
"""A message of a chat: `role` (`system`, `user` or `assistant`) and `content`."""
TextPlayer = Callable[[list[Message]], str | None]
"""A language model: it takes the messages of one turn and returns its answer.

None is an answer without text, as chat interfaces give it for a refusal.
"""


@dataclass
class Tally:
    """How one player answered.

    Attributes:
        turns: answers asked for, not counting further tries.
        illegal: answers that named an illegal move.
        unreadable: answers from which no move could be read.
    """

    turns: int = 0
    illegal: int = 0
    unreadable: int = 0

    def refuse(self, answer: Answer) -> None:
        """Count an answer without a legal move."""
        self.illegal += bool(answer.name)
        self.unreadable += not answer.name


@dataclass(frozen=True)
class TextGame:
    """A finished game.

    Attributes:
        record: the game, as far as it was played.
        returns: what each player gained; a forfeit then moves 1 point to the opponent.
        tallies: how each player answered; zeros for agents.
        forfeited: the player who named no legal move in all tries; None if the game was played out.
        transcript: all messages, with `player` and `ply` beside `role` and `content`.
    """

    record: GameRecord
    returns: tuple[float, float]
    tallies: tuple[Tally, Tally]
    forfeited: int | None
    transcript: tuple[dict[str, Any], ...]


@dataclass
class _Play:
    position: Position
    players: Sequence[TextPlayer | Opponent]
    tries: int
    legal_moves: bool
    moves: list[str] = field(default_factory=list)
    tallies: tuple[Tally, Tally] = field(default_factory=lambda: (Tally(), Tally()))
    transcript: list[dict[str, Any]] = field(default_factory=list)


def play_text_game(
    position: Position,
    first: TextPlayer | Opponent | str,
    second: TextPlayer | Opponent | str,
    *,
    tries: int = 3,
    failure: Literal["forfeit", "random"] = "forfeit",
    legal_moves: bool = False,
    seed: int = 0,
) -> TextGame:
    """Play a game between language models, or between a model and an agent.

    Each turn is a chat of its own: the rules as the system message, the position with all moves so
    far as the question. After an answer without a legal move the model is told why it was refused
    and asked again.

    Args:
        position: the start; it is not changed.
        first: player_0: a function from messages to an answer, or an agent or its name, as for
            `find_agent`.
        second: player_1.
        tries: answers a model may give for each move.
        failure: what happens when none of them is legal: the player forfeits the game, or a random
            legal move is played.
        legal_moves: whether prompts list the legal moves.
        seed: the seed of agents' random draws and of random moves.

    Raises:
        OptionError: an argument is invalid.
        AgentFailedError: an agent raised an exception, or what it gave is no legal move.
    """
    check_position(position)
    whole_number(tries, "tries", 1)
    one_of("failure", "forfeit", "random")(failure)
    seed = check_seed(seed)
    players = _player(first, "first"), _player(second, "second")
    play = _Play(position.copy(), players, tries, legal_moves)
    forfeited = None
    while not play.position.is_over and forfeited is None:
        key = int(episode_key(seed, 0, len(play.moves)))
        action = _action(play, key)
        if action is None and failure == "forfeit":
            forfeited = play.position.to_move
            continue
        if action is None:
            legal = play.position.legal_actions()
            action = legal[key % len(legal)]
        play.moves.append(play.position.move_name(action))
        play.position.play(action)
    return _finished(play, position, forfeited)


def _player(given: TextPlayer | Opponent | str, argument: str) -> TextPlayer | Opponent:
    if isinstance(given, str):
        return find_agent(given)
    if not callable(given) and not is_agent(given):
        raise OptionError(
            f"{argument}={brief(given)}: must be a function from messages to an answer, or an "
            "agent or its name"
        )
    return given


def _action(play: _Play, key: int) -> int | None:
    """What the player to move plays; None if no try of a model was legal."""
    here = play.position
    player = play.players[here.to_move]
    if is_agent(player):
        return agent_action(cast(Opponent, player), here, key)
    tally = play.tallies[here.to_move]
    tally.turns += 1
    messages: list[Message] = []
    _say(play, messages, "system", rules_prompt(here))
    question = position_prompt(here, play.moves, legal_moves=play.legal_moves)
    for _ in range(play.tries):
        _say(play, messages, "user", question)
        text = answer_of(cast(TextPlayer, player), messages, f"player_{here.to_move}")
        _say(play, messages, "assistant", text)
        answer = read_answer(here, text)
        if answer.is_legal:
            return answer.action
        tally.refuse(answer)
        question = answer.problem
    return None


def answer_of(model: TextPlayer, messages: Sequence[Message], name: str) -> str:
    """What a model answers; empty if it gives None.

    Raises:
        OptionError: the answer is no text; the message calls the model by `name`.
    """
    text = model([dict(message) for message in messages])
    if text is None:
        return ""
    if not isinstance(text, str):
        raise OptionError(f"{name} answered {brief(text)}: must be a text, or None")
    return text


def agent_action(agent: Opponent, position: Position, key: int) -> int:
    """What an agent plays in a position of which it sees only what its seat may know.

    Raises:
        AgentFailedError: the agent raised an exception, or what it gave is no legal move.
    """
    return action_of(agent, position, key, _name_of(agent))


def _name_of(player: TextPlayer | Opponent) -> str:
    """What a player is called in records and messages."""
    return name_of(player) if is_agent(player) else model_name(player)


def model_name(model: Any) -> str:
    """The name of a model: its attribute `name` or `__name__`, or `model` if it has neither."""
    return str(getattr(model, "name", getattr(model, "__name__", "model")))


def _say(play: _Play, messages: list[Message], role: str, content: str) -> None:
    message = {"role": role, "content": content}
    messages.append(message)
    where = {"player": play.position.to_move, "ply": len(play.moves)}
    play.transcript.append({**where, **message})


def _finished(play: _Play, start: Position, forfeited: int | None) -> TextGame:
    first, second = map(_name_of, play.players)
    record = record_of(start, play.moves, play.position, (first, second))
    returns = [float(gain) for gain in play.position.returns()]
    if forfeited is not None:
        returns[forfeited] -= 1
        returns[1 - forfeited] += 1
    return TextGame(
        record, (returns[0], returns[1]), play.tallies, forfeited, tuple(play.transcript)
    )
