"""Letting agents join a league, and playing the games that are still missing."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.agents.names import is_own_class
from azumaya.baselines.arena.league.cards import CHANGED, AgentCard, card_of, game_names
from azumaya.baselines.arena.league.choosing import Chooser
from azumaya.baselines.arena.league.crew import Crew, PairJob, Unplayed, play_locally
from azumaya.baselines.arena.league.games import GRACE
from azumaya.baselines.arena.league.ratings import ANCHOR
from azumaya.baselines.arena.league.results import LeagueFile, PairResult
from azumaya.baselines.arena.league.schedule import Plan, missing
from azumaya.baselines.arena.matches import check_starts
from azumaya.baselines.system.calls import Caller
from azumaya.baselines.system.files import shown
from azumaya.baselines.system.processes import ChildEndedError, ChildTimeoutError
from azumaya.envs import OptionError
from azumaya.envs.engine.workers import available_cores
from azumaya.envs.errors import brief, told
from azumaya.envs.whole import whole_number


class Fixtures:
    """The games of a league that are to be played, and the agents that cannot play them.

    An agent sits out if its files are not those that it joined with, so that another agent would
    play under its id, or if it cannot be made: nobody loses a game for that.

    Args:
        file: the file, with the agents that have joined.
        plan: what is to be played.

    Attributes:
        absent: why agents sit out, by id; more may be found while games are played.
        jobs: the pairs to be played: all that are missing, or those that are the most informative.

    Raises:
        OptionError: the plan does not fit the league.
    """

    def __init__(self, file: LeagueFile, plan: Plan) -> None:
        self._file, self._plan = file, plan
        league = file.league
        check_starts(plan.pairs, league.settings.seed)
        unknown = sorted(plan.only - league.cards.keys())
        if unknown:
            raise OptionError(
                f"only={brief(unknown)}: no such agents have joined; pass the ids of cards"
            )
        games = set(plan.games)
        self.absent = sitting_out(c for c in league.cards.values() if games & {*c.games})
        self.jobs = (
            list(missing(league, plan, self.absent))
            if plan.interval is None
            else Chooser(league, plan, self.absent)
        )

    def play(
        self,
        crew: Crew,
        progress: Callable[[PairResult], None],
        sits_out: Callable[[str, str], None],
    ) -> None:
        """Play the games, and add each pair to the file as it ends.

        Args:
            crew: plays the games.
            progress: called with each result.
            sits_out: called with the id of each agent that sits out, and why.

        Raises:
            LeagueError: games cannot be played.
        """
        for agent, why in self.absent.items():
            sits_out(agent, why)
        results = crew(self._in_time())
        try:
            for result in results:
                if not isinstance(result, Unplayed):
                    self._file.add_pair(result)
                    progress(result)
                elif result.agent not in self.absent:
                    self.absent[result.agent] = result.why
                    sits_out(result.agent, result.why)
        finally:
            close = getattr(results, "close", None)
            if close is not None:
                close()

    def _in_time(self) -> Iterator[PairJob]:
        began, minutes = time.monotonic(), self._plan.minutes
        for job in self.jobs:
            if minutes is not None and time.monotonic() - began > 60 * minutes:
                return
            if not any(agent in self.absent for agent in job.ids):
                yield job


def play_league(
    file: LeagueFile,
    plan: Plan,
    crew: Crew | None = None,
    progress: Callable[[PairResult], None] | None = None,
) -> None:
    """Play the games that are missing in a file, and add each pair as it ends.

    An agent sits out, and a warning says so, if its files are not those that it joined with, or if
    it cannot be made.

    Args:
        file: the file, with the agents that have joined.
        plan: what is to be played.
        crew: plays the games; by default processes on all cores of this machine.
        progress: called with each result.

    Raises:
        OptionError: the plan does not fit the league.
        LeagueError: games cannot be played.
    """

    def warn(agent: str, why: str) -> None:
        warnings.warn(f"{shown(agent)} sits out: {why}", stacklevel=4)

    Fixtures(file, plan).play(crew or local_crew(), progress or (lambda result: None), warn)


def local_crew(processes: int | None = None) -> Crew:
    """Processes on this machine, by default one for each core.

    Raises:
        OptionError: `processes` is not a whole number from 1.
    """
    count = available_cores() if processes is None else whole_number(processes, "processes", 1)
    return lambda jobs: play_locally(jobs, count)


def join(file: LeagueFile, names: Iterable[str], games: Iterable[str]) -> list[AgentCard]:
    """Let agents join a league, and the anchor for these games; returns the cards of those named.

    A league makes its agents anew in processes of its own, so it takes names, not objects.

    Raises:
        OptionError: `games` or a name is unknown, or an agent plays none of the games.
        CheckpointError: a checkpoint cannot be used.
        AgentFailedError: an agent raised an exception when it was asked whether it plays a game.
    """
    if isinstance(names, str):
        raise OptionError(f"names={brief(names)}: must be a list of names of agents")
    games, names = game_names(games), list(names)
    for name in names:
        if not isinstance(name, str):
            raise OptionError(
                f"names: {brief(name)}: must be the name of an agent, since a league makes its "
                "agents anew, such as 'greedy', 'module:Class' or a checkpoint's path"
            )
    cards = cards_of(names, games)
    admit(file, cards, games)
    return cards


def admit(file: LeagueFile, cards: Sequence[AgentCard], games: Sequence[str]) -> None:
    """Add cards to a league, and the anchor to each of these games: no rating is without it."""
    for card in (card_of(ANCHOR, games), *cards):
        file.add_card(card)


def extend(file: LeagueFile, games: Sequence[str]) -> dict[str, str]:
    """Let all agents of a league play these games from now on, as far as they can.

    Returns:
        By id, why an agent that lacks one of these games cannot join: its files have changed, or
        it cannot be made.
    """
    lacking = [card for card in file.league.cards.values() if not {*games} <= {*card.games}]
    absent = sitting_out(lacking)
    with card_maker() as make:
        for card in lacking:
            if card.id not in absent:
                try:
                    file.add_card(make(card.name, games))
                except AgentFailedError as error:
                    absent[card.id] = cannot(error)
                except OptionError:  # it plays none of these games
                    continue
    return {c.id: absent[c.id] for c in lacking if c.id in absent and not {*games} & {*c.games}}


# ---- making agents to see what they are ----


@contextlib.contextmanager
def card_maker() -> Iterator[Callable[[str, Iterable[str]], AgentCard]]:
    """Within this, cards can be made, as `card_of` does.

    Those of classes of the user's are made in one further process, which these may end.
    """
    caller = Caller()

    def make(name: str, games: Iterable[str]) -> AgentCard:
        apart = is_own_class(name)
        return _made_apart(caller, name, tuple(games)) if apart else card_of(name, games)

    try:
        yield make
    finally:
        caller.end()


def _made_apart(caller: Caller, name: str, games: tuple[str, ...]) -> AgentCard:
    """The card of an agent whose code may end its process, or never end."""
    caller.call(card_of, ANCHOR, games)  # what is imported and compiled is not the agent's time
    try:
        card: AgentCard = caller.call(card_of, name, games, seconds=GRACE["python"])
    except (ValueError, AgentFailedError):
        raise
    except ChildTimeoutError:
        why = f"cannot be made in {GRACE['python']:g} s"
    except ChildEndedError as error:
        why = f"cannot be made: it crashed its process: {error.how or error}"
    except Exception as error:
        why = told(error)
    else:
        return card
    raise OptionError(f"agent {name}: {why}")


def cards_of(names: Iterable[str], games: Iterable[str]) -> list[AgentCard]:
    """The cards of agents, each of which is made once to see what it can play.

    Raises:
        OptionError: a name is unknown, or an agent plays none of the games; or making it ended its
            process or took too long.
        CheckpointError: a checkpoint cannot be used.
        AgentFailedError: an agent raised an exception when it was asked whether it plays a game.
    """
    games = tuple(games)
    with card_maker() as make:
        return [make(name, games) for name in names]


def sitting_out(cards: Iterable[AgentCard]) -> dict[str, str]:
    """Which agents cannot play now, by id, and why: others have their names, or none can be made.

    Every agent is made once.
    """
    found, now = {}, dict[str, str]()
    with card_maker() as make:
        for card in cards:
            try:
                if card.name not in now:
                    now[card.name] = make(card.name, card.games).id
            except Exception as error:  # whatever is wrong with its files, the others can play
                found[card.id] = cannot(error)
            else:
                if now[card.name] != card.id:
                    found[card.id] = CHANGED
    return found


def cannot(error: Exception) -> str:
    """Why an agent sits out that cannot be made."""
    return f"cannot be made: {told(error)}"
