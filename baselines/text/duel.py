"""A game between a language model and an agent, driven from outside: one answer at a time.

`play_text_game` calls the model. Libraries that call the model themselves ask a `TextDuel` what to
say next. There a whole game is one chat.
"""

from __future__ import annotations

from azumaya.baselines.agents.names import agent_for
from azumaya.baselines.text.answers import read_answer
from azumaya.baselines.text.episode import Tally, agent_action
from azumaya.baselines.text.prompts import position_prompt, rules_prompt
from azumaya.envs import OptionError, Position
from azumaya.envs.adapters.duel.asked import check_position
from azumaya.envs.adapters.duel.opponents import Opponent, never_acts
from azumaya.envs.position import check_seed, episode_key
from azumaya.envs.whole import whole_number

WON, DRAWN, LOST = 1.0, 0.5, 0.0
"""The values of `result`."""


class TextDuel:
    """A game in which a language model meets an agent.

    Args:
        position: the start; it is not changed.
        opponent: the agent, or its name as for `find_agent`.
        seat: the seat of the model, 0 or 1.
        seed: the seed of the agent's random draws.
        tries: answers that the model may give for each move; then it forfeits.
        legal_moves: whether the questions list the legal moves.

    Attributes:
        position: the position as it is now.
        seat: the seat of the model.
        moves: the names of the moves so far.
        tally: how the model answered.
        question: what to ask the model next; None if the game is over or the agent has failed.
        forfeited: whether the model named no legal move in all tries.

    Raises:
        OptionError: an argument is invalid, or the game is over before the model can move.
        AgentFailedError: the agent raised an exception, or what it gave is no legal move.
    """

    def __init__(
        self,
        position: Position,
        opponent: Opponent | str,
        seat: int,
        *,
        seed: int = 0,
        tries: int = 3,
        legal_moves: bool = False,
    ) -> None:
        check_position(position)
        self.position = position.copy()
        self.seat = whole_number(seat, "seat", 0, 1)
        self.moves: list[str] = []
        self.tally = Tally()
        self.forfeited = False
        self.question: str | None = None
        self._opponent, self._seed = agent_for(opponent, "opponent"), check_seed(seed)
        self._tries = self._left = whole_number(tries, "tries", 1)
        self._legal_moves, self._answers = legal_moves, 0
        self._go_on()
        if self.question is None:
            raise never_acts()

    @property
    def rules(self) -> str:
        """The rules, for the system message."""
        return rules_prompt(self.position)

    @property
    def result(self) -> float:
        """`WON`, `DRAWN` or `LOST` by the model; a game that is not over counts as lost."""
        if self.forfeited or not self.position.is_over:
            return LOST
        gain = float(self.position.returns()[self.seat])
        return WON if gain > 0 else DRAWN if gain == 0 else LOST

    @property
    def legal_share(self) -> float:
        """The share of answers that named a legal move; 0 before the first answer.

        So a model that never answers is not rewarded for it.
        """
        wrong = self.tally.illegal + self.tally.unreadable
        return 1 - wrong / self._answers if self._answers else 0.0

    def answer(self, text: str | None) -> str | None:
        """Take an answer of the model, and let the agent move; returns the next question.

        Raises:
            OptionError: nothing is asked, or the answer is no text.
            AgentFailedError: the agent raised an exception, or what it gave is no legal move.
        """
        if self.question is None:
            raise OptionError(
                "answer: the game is over, or the agent has failed; make a new TextDuel"
            )
        answer = read_answer(self.position, text)
        self.tally.turns += self._left == self._tries
        self._answers += 1
        if answer.action is not None:
            self._play(answer.action)
            self._go_on()
            return self.question
        self.tally.refuse(answer)
        self._left -= 1
        self.forfeited = not self._left
        self.question = None if self.forfeited else answer.problem
        return self.question

    def _go_on(self) -> None:
        """Let the agent move until the model is to move, and ask the model."""
        here, told = self.position, []
        self.question = None  # if the agent fails, its turn is not the model's
        while not here.is_over and here.to_move != self.seat:
            key = int(episode_key(self._seed, 0, len(self.moves)))
            mover = here.to_move
            self._play(agent_action(self._opponent, here, key))
            told.append(f"player_{mover} plays {self.moves[-1]}.")
        self._left = self._tries
        self.question = None if here.is_over else self._ask(told)

    def _ask(self, told: list[str]) -> str:
        """The question; the whole history is told once, then what has happened since."""
        first = not self._answers
        board = position_prompt(
            self.position, self.moves if first else None, legal_moves=self._legal_moves
        )
        return board if first or not told else "\n\n".join([" ".join(told), board])

    def _play(self, action: int) -> None:
        self.moves.append(self.position.move_name(action))
        self.position.play(action)
