"""The trees of searches: their memory, what is kept of them, and how UCT and PUCT use them."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azumaya.baselines.search.arguments import allocating, check_megabytes
from azumaya.baselines.search.budget import Budget, Rooms, check_budget, spend
from azumaya.baselines.search.evaluation import Evaluation, own_evaluation, own_value_kernel
from azumaya.baselines.search.game_kernels import GameKernels, kernels_of, payoff_bound
from azumaya.baselines.search.outcome import Outcome, outcome_of
from azumaya.baselines.search.simulations import puct_kernel, uct_kernel
from azumaya.baselines.search.tree import (
    MOST_SLOTS,
    NODE,
    PRIOR_NODE,
    Tree,
    move_root,
    new_trees,
    plant,
    slot_bytes,
)
from azumaya.baselines.search.walks import Terms, new_desk
from azumaya.envs import IllegalActionError, MoveNameError, Position
from azumaya.envs.adapters.duel.asked import check_asked, check_sequence
from azumaya.envs.engine.workers import check_threads
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import as_states
from azumaya.envs.kernels.compile import Settled, kernel
from azumaya.envs.setup import Setup

MEGABYTES = 64


def slots_for(kernels: GameKernels, megabytes: float, size: int) -> int:
    """The slots of some bytes that fit; `OptionError` if the moves of one position do not."""
    least = (64 * kernels.words + 1) * size
    if least > check_megabytes(megabytes) * 2**20:
        raise OptionError(
            f"megabytes={brief(megabytes)}: the moves of one position need "
            f"{math.ceil(least / 2**20 * 100) / 100}"
        )
    return min(int(megabytes * 2**20) // size, MOST_SLOTS)


@kernel
def follow(start, stop, actions, trees, blank):
    """Keep of the trees `start` to `stop - 1` what is below an action each, unless it is negative.

    Where the action was never tried, and with hidden draws, the tree is new.
    """
    for g in range(start, stop):
        if actions[g] < 0:
            continue
        root, nodes = trees.nodes[g, 0], trees.nodes[g]
        at, end = np.int64(root.first), np.int64(root.first + root.tried)
        while at < end and nodes[at].action != actions[g]:
            at += 1
        if at < end and not trees.stats[g].hidden:
            move_root(trees, g, at)
        else:
            plant(trees, g, trees.stats[g].bound, blank)
    return stop - start


class Trees:
    """The trees of games that are searched at once; a single search has one.

    Args:
        kernels: the game's kernels.
        games: the number of trees.
        slots: nodes for each tree.
        layout: the dtype of a node.
        amaf: whether AMAF is used.

    Attributes:
        arrays: the trees, with a row for each.
        roots: `(games,)`, the positions of their roots.
        setups: after a search those of the roots, None for roots that are not followed; empty while
            there are no trees to keep.
    """

    def __init__(
        self,
        kernels: GameKernels,
        games: int,
        slots: int,
        layout: np.dtype[Any] = NODE,
        amaf: bool = False,
    ) -> None:
        self.kernels = kernels
        self.arrays = new_trees(games, slots, layout, 64 * kernels.words if amaf else 0)
        self.arrays.stats["hidden"] = kernels.hidden_draws
        self.roots, self._blank = kernels.game.new_states(games), as_states(np.zeros(1, layout))
        self.setups: list[Setup | None] = []

    def begin(self, positions: Sequence[Position], kept: bool) -> None:
        """Prepare a search in the first trees; with `kept` those that follow a position go on.

        Call `end` afterwards. If the search is interrupted, the next begins anew.
        """
        followed = [self.root(g) for g in range(len(self.setups))] if kept else []
        self.setups = []
        self.arrays.stats["simulations"] = 0
        for g, position in enumerate(positions):
            if g >= len(followed) or position != followed[g]:
                self.plant(g, position)

    def end(self, positions: Sequence[Position]) -> None:
        """End a search of these positions, whose trees can now be kept."""
        self.setups = [position.setup for position in positions]

    def root(self, g: int) -> Position | None:
        """The position of a root, of which copies would cost each search time."""
        setup = self.setups[g]
        if setup is None:
            return None
        return Position.of_states(self.kernels.game, setup, self.roots[g : g + 1])

    def plant(self, g: int, position: Position) -> None:
        """Begin a new tree."""
        self.roots[g : g + 1] = position.state
        plant(self.arrays, g, payoff_bound(position), self._blank)

    def advance(self, moved: Sequence[tuple[int, Position | None]]) -> None:
        """Keep the part of each tree below an action, and the position that it led to.

        Where the action was never tried, and in games with hidden draws, the tree is new.
        """
        self.setups = []  # if this is interrupted, the next search begins anew
        actions = np.array([action for action, _ in moved])
        for g, (_, position) in enumerate(moved):
            if position is not None:
                self.roots[g : g + 1] = position.state
        follow(0, len(moved), actions, self.arrays, self._blank)
        self.setups = [None if position is None else position.setup for _, position in moved]

    def __getitem__(self, g: int) -> Tree:
        nodes, mean, reach, stats, amaf, history = self.arrays
        return Tree(nodes[g], mean[g], reach[g], stats[g : g + 1], amaf[g], history[g])


def _moved(
    g: int, position: Position | None, move: str | int | None
) -> tuple[int, Position | None]:
    """The action of a move and the position after it, for `Trees.advance`."""
    if position is None or move is None:
        return -1, None
    try:
        return position.action(move), position.copy().play(move)
    except (IllegalActionError, MoveNameError) as error:
        raise type(error)(f"moves[{g}]: {error}") from None


class TreeRoom(Trees):
    """The memory of one thread for UCT or PUCT; the search runs in steps, see `budget.Search`.

    Args:
        kernels: the game's kernels.
        megabytes: memory for nodes.
        guided: whether an evaluation guides the search, by PUCT.
        evaluation: the evaluation; None means the game's own.
        amaf: whether PUCT uses AMAF.

    Attributes:
        tree: the only tree.

    Raises:
        OptionError: the memory cannot hold the moves of one position, or there is less.
    """

    def __init__(
        self,
        kernels: GameKernels,
        megabytes: float = MEGABYTES,
        *,
        guided: bool = False,
        evaluation: Evaluation | None = None,
        amaf: bool = False,
    ) -> None:
        layout = PRIOR_NODE if guided else NODE
        slots = slots_for(kernels, megabytes, slot_bytes(layout, amaf))
        self.guided, self.evaluation = guided, evaluation
        if guided:
            value = evaluation.value if evaluation else own_value_kernel(kernels)
            self._simulate = Settled(puct_kernel(kernels, value, amaf))
        else:
            self._simulate = Settled(uct_kernel(kernels))
        with allocating(megabytes):
            super().__init__(kernels, 1, slots, layout, amaf)
        self.tree = self[0]
        desk = new_desk(kernels, evaluation.scratch_words if evaluation else 0)
        self._desk = desk._replace(root=self.roots)
        self._key, self._terms = np.uint64(0), Terms(0.0)

    def start(self, position: Position, key: int, terms: Terms, kept: bool = False) -> None:
        """Set up a search, without simulations yet; with `kept` go on with a tree that fits."""
        self._key, self._terms = np.uint64(key), terms
        self.begin([position], kept)
        if self.guided:
            weights = (self.evaluation or own_evaluation(position)).weights
            self._desk = self._desk._replace(weights=weights)
        elif terms.cut and payoff_bound(position) > 1:
            stats = self.arrays.stats
            stats["cut_stake"], stats["cut_scale"] = own_evaluation(position).weights

    @property
    def finished(self) -> bool:
        """Whether no more simulations are of use, or none can be counted."""
        return self.tree.finished

    def run(self, steps: int) -> int:
        """Make up to `steps` more simulations; returns the number made."""
        done, steps = self.tree.simulations, min(steps, self.tree.simulations_left)
        end = done + steps
        return int(self._simulate(done, end, self._key, self._terms, self.arrays, self._desk))


class TreeSearch(ABC):
    """What searches of trees have in common.

    Args:
        budget: simulations or time per searched position.
        megabytes: memory for the nodes of each tree.
        threads: the number of threads; None means one per core.

    Raises:
        OptionError: an argument is invalid.
    """

    most = "threads"
    """The setting that limits how many trees are kept."""

    def __init__(self, budget: Budget, megabytes: float, threads: int | None) -> None:
        self.budget, self.threads = check_budget(budget), check_threads(threads)
        self.megabytes = check_megabytes(megabytes)
        self._followed: Sequence[Trees] = ()
        self._advanced = False

    def check(self, position: Position) -> None:  # noqa: B027 - most suit any game
        """Raise a `ValueError` if the settings do not suit a position's game."""

    def search(
        self, positions: Sequence[Position], keys: Sequence[int], *, lines: bool = True
    ) -> list[Outcome]:
        """Search running positions of the same game; each position's key seeds its draws.

        With a budget in simulations, the result depends only on position, key, settings and the
        weights of an evaluation, or what a network returns for a row of a batch; not on the other
        positions. After `advance` it also depends on what was kept.

        Args:
            positions: the positions.
            keys: one for each position.
            lines: whether to find the lines of best moves, which takes as long as some hundred
                simulations; without them `line` is empty.

        Raises:
            OptionError: a position or a key is invalid, the settings do not suit the game, the
                memory cannot hold the moves of a position, or a network returned arrays of the
                wrong shape or numbers that are not finite.
        """
        positions, keys = check_asked(positions, keys)
        followed = self._followed if self._advanced else ()
        self._followed, self._advanced = (), False
        if not positions:
            return []
        self.check(positions[0])
        found, self._followed = self._search(positions, keys, lines, followed)
        return found

    @abstractmethod
    def _search(
        self,
        positions: Sequence[Position],
        keys: Sequence[int],
        lines: bool,
        followed: Sequence[Trees],
    ) -> tuple[list[Outcome], Sequence[Trees]]:
        """As `search`; also returns the trees that can be followed.

        With `followed`, those of the last search that were, the first positions go on.
        """

    def advance(self, moves: Sequence[str | int | None]) -> None:
        """Follow the games of the last search by a move each, and keep the trees below the moves.

        The next search of as many positions goes on with the trees of those that were followed, row
        by row, and adds its whole budget to their visits; a position that was not reached this way,
        such as the start of the next game, gets a new tree. Without `advance` all trees are new. In
        games with hidden draws nothing is kept: what was drawn since is known now.

        Args:
            moves: for each position of the last search a move of either player, by its name or as
                an action, or None where the game is no longer followed. If both players move
                between searches, call this twice.

        Raises:
            OptionError: there is no finished search, or not one move for each of its positions; of
                UCT and PUCT at most `threads` are kept, with a network at most `games`.
            IllegalActionError: a move is not legal; nothing changes.
            MoveNameError: a text names no move; nothing changes.
        """
        followed, moves = self._followed, check_sequence(moves, "moves")
        roots = [trees.root(g) for trees in followed for g in range(len(trees.setups))]
        if not roots or len(moves) != len(roots):
            raise OptionError(
                f"moves={brief(moves)}: {len(moves)} for the {len(roots)} trees of the last "
                f"search, of which at most {self.most}={getattr(self, self.most)} are kept; one "
                "for each is needed"
            )
        moved = [_moved(g, *both) for g, both in enumerate(zip(roots, moves, strict=True))]
        self._followed, self._advanced = (), False  # if this is interrupted, nothing is kept
        for trees in followed:
            own, moved = moved[: len(trees.setups)], moved[len(trees.setups) :]
            trees.advance(own)
        self._followed, self._advanced = followed, True

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_followed": (), "_advanced": False}


class ThreadedSearch(TreeSearch):
    """UCT or PUCT without a network: each thread searches one position after another.

    Args:
        budget, megabytes, threads: as for `TreeSearch`.
        settings: further arguments of `TreeRoom`.
    """

    def __init__(
        self, budget: Budget, megabytes: float, threads: int | None, **settings: Any
    ) -> None:
        super().__init__(budget, megabytes, threads)
        make = functools.partial(TreeRoom, megabytes=self.megabytes, **settings)
        self.rooms = Rooms(make, self.threads)

    @abstractmethod
    def _terms(self) -> Terms:
        """The settings as kernels take them."""

    def _search(
        self,
        positions: Sequence[Position],
        keys: Sequence[int],
        lines: bool,
        followed: Sequence[Trees],
    ) -> tuple[list[Outcome], Sequence[Trees]]:
        terms, own = self._terms(), list[TreeRoom]()
        if len(positions) <= self.threads:  # each position has a room, in which its tree stays
            own = self.rooms.take(kernels_of(positions[0]), len(positions))

        def work(i: int, room: TreeRoom, stopped: Callable[[], bool]) -> Outcome:
            room = own[i] if own else room
            room.start(positions[i], keys[i], terms, i < len(followed))
            spend(room, self.budget, stopped)
            room.end([positions[i]])
            return outcome_of(room.tree, lines)

        return self.rooms.each(positions, work), own
