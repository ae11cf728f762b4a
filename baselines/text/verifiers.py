"""The games and the exams as environments of Prime Intellect's verifiers (needs `verifiers`).

verifiers finds environments by the name of a module. The modules `azumaya_game` and `azumaya_exam`
export what is here, so `azumaya-game` and `azumaya-exam` are the ids of the environments.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any, Literal

from azumaya.baselines.arena.exams import PARTS, load_exam
from azumaya.baselines.text.duel import LOST, TextDuel
from azumaya.baselines.text.exam import TextExam, TextExamResult, scaled_score, text_exam
from azumaya.envs import Position
from azumaya.envs.adapters.duel.opponents import check_seat
from azumaya.envs.extras import require
from azumaya.envs.game import one_of
from azumaya.envs.position import episode_key

require("verifiers.v1", "verifiers")

import openai  # noqa: E402 - verifiers needs this and the next one, too
import pydantic  # noqa: E402
import verifiers.v1 as vf  # noqa: E402

SEATS_STREAM = 1 << 24
"""The keys that draw seats come from this environment number."""
IDS = {"game": "azumaya-game", "exam": "azumaya-exam"}
"""The ids of the environments."""


def load_environment(kind: Literal["game", "exam"] = "game", **settings: Any) -> vf.Env:
    """An environment of verifiers.

    Args:
        kind: `game`, a whole game against an agent; or `exam`, a move in a position of an exam.
        **settings: fields of `GameConfig` or `ExamConfig`, such as `game="sudoku_moyo"`.

    Raises:
        OptionError: there is no such kind.
        ValueError: a setting is wrong.
    """
    taskset = {"id": IDS[one_of("kind", *IDS)(kind)], **settings}
    return vf.load_environment(vf.resolve_env_config({"taskset": taskset}))


# ---- asking a model ----


class ChatConfig(vf.HarnessConfig):
    """The harness has no settings of its own."""


class ChatHarness(vf.Harness[ChatConfig]):
    """Asks the model for one answer, in this process.

    The harnesses of verifiers start a program for each answer, and install it first. A chat without
    tools needs neither.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Send the chat to the model; verifiers records the answer on the way."""
        system, prompt = self.resolve_prompt(data)
        asked = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt or []
        chat = [m if isinstance(m, dict) else _wire(m) for m in asked]
        if system:
            chat.insert(0, {"role": "system", "content": system})
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=2) as client:
            await client.chat.completions.create(model=ctx.model, messages=chat)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


def _wire(message: Any) -> dict[str, Any]:
    return {"role": message.role, "content": message.content or ""}


LOCAL = vf.AgentConfig(runtime=vf.SubprocessConfig())
"""A model that needs no sandbox: nothing but the chat runs."""


# ---- games ----


class GameConfig(vf.TasksetConfig):
    """Which games are played; `--env.taskset.*` on the command line.

    Attributes:
        game: the name of the game.
        opponent: the name of the agent that the model meets, such as `greedy` or `uct:1000`.
        seat: the model's seat: 0, 1, `alternating` or `random`.
        seed: the seed of the first game; the next game has the next seed.
        tries: answers that the model may give for each move.
        legal_moves: whether the questions list the legal moves.
        legal_weight: the weight of the share of legal answers beside that of the result, which is
            1.
        options: the game's options.
    """

    game: str = "sudoku_moyo"
    opponent: str = "random"
    seat: Literal[0, 1, "alternating", "random"] = "alternating"
    seed: int = 0
    tries: int = 3
    legal_moves: bool = False
    legal_weight: float = 0.1
    options: dict[str, Any] = pydantic.Field(default_factory=dict)

    def duel(self, seed: int) -> TextDuel:
        """The game with a seed, up to the model's first move."""
        return TextDuel(
            Position(self.game, seed=seed, **self.options),
            self.opponent,
            self._seat(seed),
            seed=seed,
            tries=self.tries,
            legal_moves=self.legal_moves,
        )

    def _seat(self, seed: int) -> int:
        seat = check_seat(self.seat)
        if isinstance(seat, int):
            return seat
        key = int(episode_key(seed, SEATS_STREAM, 0)) if seat == "random" else seed
        return key % 2


class GameData(vf.TaskData):
    """A game before the model's first move.

    Attributes:
        seed: the seed of the game.
        seat: the model's seat.
    """

    seed: int
    seat: int


class GameTask(vf.Task[GameData]):
    """A game to play; `GameEnv` scores it."""


class GameTaskset(vf.Taskset[GameTask, GameConfig]):
    """Games against an agent, one for each seed, without end."""

    INFINITE = True

    def load(self) -> Iterator[GameTask]:
        """The games in order of their seeds."""
        for seed in itertools.count(self.config.seed):
            duel = self.config.duel(seed)
            data = GameData(
                name=f"{self.config.game}-{seed}",
                prompt=duel.question,
                system_prompt=duel.rules,
                seed=seed,
                seat=duel.seat,
            )
            yield GameTask(data, self.config.task)


class GameEnvConfig(vf.EnvConfig):
    """The settings of `GameEnv`: the model that plays is `player`."""

    player: vf.AgentConfig = LOCAL


class GameEnv(vf.Env[GameEnvConfig]):
    """A model plays a whole game in one chat.

    Rewards: `result`, 1 for a win, 0.5 for a draw and 0 for a loss or a forfeit, and `legal_share`,
    the share of answers that named a legal move (0 if the first turn was cut off), by the weight
    `legal_weight`. Metrics: `moves`, the number of moves of both players, `illegal`, `unreadable`
    and `forfeited`.
    """

    async def run(self, task: GameTask, agents: vf.Agents) -> None:
        """Play until the game is over or the model's limits are reached."""
        config: GameConfig = self.taskset.config
        duel = await asyncio.to_thread(config.duel, task.data.seed)
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                # in a thread, because the agent may search
                question = await asyncio.to_thread(duel.answer, segment.last_reply)
                if question is None:
                    break
                segment = await interaction.turn(question)
        trace = interaction.trace
        trace.record_reward("result", duel.result if duel.question is None else LOST, 1.0)
        trace.record_reward("legal_share", duel.legal_share, config.legal_weight)
        trace.record_metric("moves", float(len(duel.moves)))
        trace.record_metric("illegal", float(duel.tally.illegal))
        trace.record_metric("unreadable", float(duel.tally.unreadable))
        trace.record_metric("forfeited", float(duel.forfeited))
        trace.info["moves"] = duel.moves


# ---- exams ----


class ExamConfig(vf.TasksetConfig):
    """Which positions are asked; `--env.taskset.*` on the command line.

    Attributes:
        game: the name of the game.
        part: the part of the exam, `public` or `held-out`.
        positions: how many positions to ask; None for all.
        seed: the seed that draws them.
        legal_moves: whether the questions list the legal moves.
    """

    game: str = "sudoku_moyo"
    part: Literal["public", "held-out"] = PARTS[0]
    positions: int | None = None
    seed: int = 0
    legal_moves: bool = False

    def exam(self) -> TextExam:
        """The exam's questions."""
        return text_exam(
            self.game,
            self.part,
            positions=self.positions,
            seed=self.seed,
            legal_moves=self.legal_moves,
        )


class ExamData(vf.TaskData):
    """A position of an exam, by its number."""

    game: str
    part: Literal["public", "held-out"]
    number: int


class ExamTask(vf.Task[ExamData]):
    """A position in which the model names a move."""

    @vf.reward  # type: ignore[untyped-decorator]
    async def quality(self, trace: vf.Trace) -> float:
        """1 for a best move, 0 for a worst one or none: 1 - regret / the largest regret."""
        result = self.result(trace.last_reply)
        return scaled_score(result.answers[0].question, result.replies[0].move)

    @vf.metric  # type: ignore[untyped-decorator]
    async def figures(self, trace: vf.Trace) -> dict[str, float]:
        """`regret` and `kept` as in `azumaya exam`, and `legal`."""
        result = self.result(trace.last_reply)
        answer = result.answers[0]
        return {
            "regret": answer.regret,
            "kept": float(answer.kept),
            "legal": float(not result.failed),
        }

    def result(self, text: str) -> TextExamResult:
        """The figures of a single answer."""
        exam = TextExam(load_exam(self.data.game, self.data.part), (self.data.number,))
        return exam.result({self.data.number: (text,)})


class ExamTaskset(vf.Taskset[ExamTask, ExamConfig]):
    """The positions of a game's exam."""

    def load(self) -> Iterator[ExamTask]:
        """The positions in the order in which they were drawn."""
        exam = self.config.exam()
        for number in exam.numbers:
            system, question = exam.messages(number) or []
            data = ExamData(
                id=exam.identity(number),
                name=exam.identity(number),
                system_prompt=system["content"],
                prompt=question["content"],
                game=exam.game,
                part=exam.exam.part,
                number=number,
            )
            yield ExamTask(data, self.config.task)


class ExamEnvConfig(vf.EnvConfig):
    """The settings of `ExamEnv`: the model that answers is `player`."""

    player: vf.AgentConfig = LOCAL


class ExamEnv(vf.Env[ExamEnvConfig]):
    """A model names a move in a position."""

    async def run(self, task: ExamTask, agents: vf.Agents) -> None:
        """Ask once."""
        await agents.player.run(task)
