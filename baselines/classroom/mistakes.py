"""The costliest moves of a submission in its games against the library, and what was better.

A search with a budget in positions says what each position is worth: the same on every machine. It
looks at the ends of a few games, lost ones first, and once more, longer, at the moves that cost
most. Games with hidden draws are left out: after a move their values change by luck as well.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from azumaya.baselines.classroom.games import Played
from azumaya.baselines.classroom.store import Mistake, Run
from azumaya.baselines.play.review import Seen, mistakes, seen
from azumaya.baselines.search.game_kernels import payoff_bound
from azumaya.baselines.system.threads import StoppedError
from azumaya.envs import Position, find_game
from azumaya.envs.notation import replay

POSITIONS, OF_A_GAME = 80, 30
"""Positions of a submission that are searched, and of one game: its last."""
NODES, MORE_NODES = 40_000, 200_000
"""Positions that each search visits, and that the second one does."""
CANDIDATES, MOST = 5, 3
"""Moves that are searched twice, and those that are kept."""


@dataclass(frozen=True)
class Game:
    """A game of a submission against an agent of the library."""

    opponent: str
    number: int
    played: Played

    def mistake(self, ply: int, before: Seen, after: Seen) -> Mistake:
        """A move of this game as a mistake, by what a search says before it and after it."""
        assert before["best"] is not None
        sign = 1 - 2 * self.played.seat
        values = sign * before["value"] + 0.0, sign * after["value"] + 0.0  # no -0
        exact = before["exact"] and after["exact"]
        best = str(before["best"][0])
        return Mistake(self.opponent, self.number, self.played.seat, ply, best, *values, exact)


def find_mistakes(
    run: Run, opponents: Sequence[str], game: str, stop: threading.Event
) -> tuple[Mistake, ...]:
    """The costliest moves of a submission, proven ones first, from several games; at most `MOST`.

    Args:
        run: what is known of the submission.
        opponents: the library's agents, the weakest first.
        game: the name of the game.
        stop: set to end soon.

    Raises:
        StoppedError: it was set.
    """
    if find_game(game).rules.resample is not None:
        return ()
    games = {(g.opponent, g.number, g.played.seat): g for g in games_of(run, opponents)}
    first: dict[tuple[str, str], Mistake] = {}
    for each in _searched(list(games.values()), stop):
        played = games[each.opponent, each.number, each.seat].played
        first.setdefault((str(position_of(each, played)), played.record.moves[each.ply]), each)
    found = list[Mistake]()
    for each in _ranked(first.values())[:CANDIDATES]:
        again = _again(each, games[each.opponent, each.number, each.seat], stop)
        found += [] if again is None else [again]
    return tuple(_ranked(found)[:MOST])


def games_of(run: Run, opponents: Sequence[str]) -> list[Game]:
    """The games of a submission against the library: lost ones first, against the weakest first."""
    order = {name: place for place, name in enumerate(opponents)}
    games = [Game(m.second, m.number, p) for m in run.meetings for p in m.games]
    return sorted(
        (game for game in games if game.opponent in order),
        key=lambda game: (game.played.result, order[game.opponent], game.number, game.played.seat),
    )


def position_of(mistake: Mistake, played: Played) -> Position:
    """The position before a mistake."""
    return list(replay(played.record))[mistake.ply]


def words_of(mistake: Mistake, position: Position, move: str) -> str:
    """What a move has cost, in a sentence."""
    swing = mistake.before - mistake.after
    if mistake.exact:
        most = payoff_bound(position)
        before, after = (_outcome(value, most) for value in (mistake.before, mistake.after))
        return (
            f"{move} turns {before} into {after}: a swing of {swing:g}, proven. "
            f"{mistake.better} keeps the {before.removeprefix('a ')}."
        )
    return (
        f"{move} lowers the value from {mistake.before:+.2f} to {mistake.after:+.2f}: a swing of "
        f"{swing:.2f}, by the estimate of a search. It prefers {mistake.better}."
    )


def _outcome(value: float, most: int) -> str:
    if not value:
        return "a draw"
    by = f" by {abs(value):g}" if most > 1 else ""
    return f"a {'win' if value > 0 else 'loss'}{by}"


def _ranked(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """Proven mistakes first, of these the costliest of each game before its others."""
    order, before = dict[Mistake, int](), Counter[tuple[str, int, int]]()
    costliest = sorted(mistakes, key=lambda m: (not m.exact, m.after - m.before))
    for each in costliest:
        game = each.opponent, each.number, each.seat
        order[each] = before[game]
        before[game] += 1
    return sorted(costliest, key=lambda m: (not m.exact, order[m]))


def _searched(games: Sequence[Game], stop: threading.Event) -> Iterator[Mistake]:
    """The mistakes in the last positions of some games, as a first search sees them."""
    left = POSITIONS
    for game in games:
        positions = list(replay(game.played.record))
        first = max(0, len(positions) - min(OF_A_GAME, left))
        left -= len(positions) - first
        plies = list(_seen(positions[first:], first, NODES, stop))
        for number in mistakes(plies, game.played.record.moves[first:]):
            before, after = plies[number : number + 2]
            if before["mover"] == game.played.seat:
                yield game.mistake(first + number, before, after)
        if left < 2:
            return


def _seen(
    positions: Sequence[Position], ply: int, nodes: int, stop: threading.Event
) -> Iterator[Seen]:
    """What a search says of positions that follow each other, the first after `ply` moves."""
    for number, position in enumerate(positions):
        if stop.is_set():
            raise StoppedError
        yield seen(position, ply + number, nodes=nodes)


def _again(mistake: Mistake, game: Game, stop: threading.Event) -> Mistake | None:
    """A mistake as a longer search sees it; None if to that it is none."""
    both = list(replay(game.played.record))[mistake.ply : mistake.ply + 2]
    before, after = _seen(both, mistake.ply, MORE_NODES, stop)
    if not mistakes((before, after), game.played.record.moves[mistake.ply :][:1]):
        return None
    return game.mistake(mistake.ply, before, after)
