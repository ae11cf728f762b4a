"""What agents are given, as objects or by name: games against each other, and exams."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from azumaya.baselines.agents.names import agent_for
from azumaya.baselines.arena.exam_results import ExamResult, answers_of
from azumaya.baselines.arena.exams import Exam, Part, load_exam
from azumaya.baselines.arena.rounds import AT_ONCE, Score, play_both_seats, start_set
from azumaya.envs import OptionError
from azumaya.envs.adapters.duel.opponents import Opponent
from azumaya.envs.game import Game
from azumaya.envs.notation import check_options_fit, check_records_file, write_records
from azumaya.envs.position import MAX_SEED, check_seed
from azumaya.envs.whole import whole_number

MOST_STARTS = 1_000_000
"""The most starts of a pairing. All games are in memory at once: about 10 GB at this limit."""


def play_pairing(
    game: Game | str,
    first: Opponent | str,
    second: Opponent | str,
    starts: int,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
    balanced: bool = True,
    record: str | Path | None = None,
) -> Score:
    """Let two agents play the same starts in both seats: `2 * starts` games.

    Agents with a method `act_states` (see `azumaya.baselines.agents.base`) choose moves on state
    records, without an object for each position.

    Args:
        game: the game or its name.
        first: the agent whose wins are counted: any object with `act(positions, keys)`, see
            `azumaya.baselines.agents.Agent`, or a name that `find_agent` knows. The score has its
            `name` or that of its class.
        second: its opponent, of the same kind.
        starts: the number of start positions to draw, up to `MOST_STARTS`.
        seed: the seed of the first start; each further start takes the next one, so the largest
            possible value is `2**64 - starts`. Everything random depends on these seeds.
        options: the options of the game.
        progress: called with the number of games finished since the last call.
        balanced: whether to draw the starts from the game's book of balanced starts. Games without
            a book, and options other than the defaults, have plain starts in any case.
        record: a file to which the games are appended as records once all have been played, the two
            of each start one after the other (needs the extra `records`).

    Raises:
        OptionError: an argument or option has an invalid value.
        CheckpointError: an agent cannot be made, as for `find_agent`.
        MissingExtraError: the agent or `record` needs a package that is not installed.
        PositionError: the option `position` is malformed, impossible or over.
        IllegalActionError: an agent's move is illegal, or it gave too many or too few.
        AgentFailedError: an agent that is not the library's raised an exception.
        OSError: the records cannot be written.
    """
    agents = agent_for(first, "first"), agent_for(second, "second")
    seed = check_starts(starts, seed)
    begun = start_set(game, options, seed, balanced)
    if record is not None:
        check_records_file(record, "record")
        check_options_fit(begun.game, begun.setup)
    score, games = play_both_seats(begun, agents, starts, progress, recorded=record is not None)
    if record is not None:
        records = games.records((score.first, score.second))
        while some := list(itertools.islice(records, AT_ONCE)):
            write_records(record, some)
    return score


def check_starts(starts: Any, seed: Any) -> int:
    """Check `starts` and `seed`; returns the seed as an int.

    Raises:
        OptionError: `starts` or `seed` is out of range, or there are not enough seeds.
    """
    count, first = whole_number(starts, "starts", 1, MOST_STARTS), check_seed(seed)
    if first + count - 1 > MAX_SEED:
        raise OptionError(
            f"seed={first}, starts={starts}: each start takes the next seed, and the largest seed "
            "is 2**64 - 1; pass fewer starts or a smaller seed"
        )
    return first


def take_exam(
    agent: Opponent | str,
    game: Game | str,
    part: Part = "public",
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> ExamResult:
    """Give an agent the exam of a game.

    Args:
        agent: any object with `act(positions, keys)`, see `azumaya.baselines.agents.Agent`, or a
            name that `find_agent` knows.
        game: the game or its name.
        part: `public`, or `held-out` to report results.
        seed: everything the agent draws at random depends on this seed.
        progress: called with the number of positions answered since the last call.

    Raises:
        OptionError: there is no such agent, game or part, or the seed is invalid.
        ExamError: the game has no exam, or the exam is damaged.
        IllegalActionError: the agent's move is illegal, or it gave too many or too few.
        AgentFailedError: an agent that is not the library's raised an exception.
        ValueError: the agent refuses the game.
    """
    return answer_exam(agent, load_exam(game, part), seed, progress)


def answer_exam(
    agent: Opponent | str,
    exam: Exam,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> ExamResult:
    """Give an agent an exam, such as one of your own; arguments and errors as for `take_exam`.

    Raises:
        ExamError: the exam has no positions, or they do not fit the game.
    """
    return answers_of(agent_for(agent, "agent"), exam, seed, progress)
