"""Measurements of search: simulations, nodes, and moves of self-play a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import kernels_of, payoff_bound
from azumaya.baselines.search.outcome import outcome_of
from azumaya.baselines.search.puct import EXPLORATION as PUCT_EXPLORATION
from azumaya.baselines.search.puct import TEMPERATURE
from azumaya.baselines.search.table import PROVEN
from azumaya.baselines.search.trees import TreeRoom
from azumaya.baselines.search.uct import EXPLORATION
from azumaya.baselines.search.walks import Terms
from azumaya.benchmarks import signature
from azumaya.benchmarks.timing import measure
from azumaya.envs.game import Game
from azumaya.envs.position import Position, episode_key

SEED = 0
SIMULATIONS, SEARCH = 500, 10_000
"""Simulations in one call, and in one search before the next begins with an empty tree."""
NODES, MEGABYTES = 20_000, 64
CUT = 40
"""Plies after which rollouts are cut off where that is measured."""

GAMES, PLIES = 16, 4
"""Games of self-play at once, and the moves that one call makes in each."""

ROLLOUTS = (
    "one simulation of UCT from the start: descent, a new node, a random rollout{cut}, backup; "
    f"one core, a new tree every {SEARCH:,} simulations"
)
TO_THE_END = " to the end of the game"
EXPANSIONS = (
    "one simulation of PUCT from the start: descent, a node expanded, each of its moves made and "
    f"evaluated by the game, backup; one core, a new tree every {SEARCH:,} simulations"
)
VISITS = (
    "one position visited by the solver, from the start with a table that fills up: move, what the "
    "game tells of it, key, table, list of moves and their order; one core"
)

PLAY = f"one searched and made move of self-play; {GAMES} games at once, one core"


def _simulations(
    room: TreeRoom, begin: Callable[[], object], seconds: float, repeats: int
) -> dict[str, Any]:
    """Simulations of a tree, which `begin` empties before each search; a digest of its visits."""
    begin()
    room.run(SIMULATIONS)
    tried = outcome_of(room.tree, line=False).candidates
    visits = [number for move in tried for number in (move.action, move.visits)]
    done = SEARCH

    def chunk() -> int:
        nonlocal done
        if done >= SEARCH:
            begin()
            done = 0
        made = room.run(SIMULATIONS)
        done = done + made if made == SIMULATIONS else SEARCH
        return made

    rates = measure(chunk, seconds, repeats)
    return {**rates.fields(), "plays": signature.of_numbers(visits)}


def uct(game: Game, cut: int, seconds: float, repeats: int) -> dict[str, Any]:
    """Simulations of UCT; `cut` as for `UCT`."""
    position = Position(game, seed=SEED)
    room, terms = TreeRoom(kernels_of(position)), Terms(EXPLORATION, cut=cut)
    found = _simulations(room, lambda: room.start(position, SEED, terms), seconds, repeats)
    text = f" cut off after {cut} plies" if cut else TO_THE_END
    return {**found, "includes": ROLLOUTS.format(cut=text)}


def puct(game: Game, seconds: float, repeats: int) -> dict[str, Any]:
    """Simulations of PUCT with the game's own evaluation, alone: without rollouts or delay."""
    position = Position(game, seed=SEED)
    room = TreeRoom(kernels_of(position), guided=True)
    terms = Terms(PUCT_EXPLORATION, TEMPERATURE)
    found = _simulations(room, lambda: room.start(position, SEED, terms), seconds, repeats)
    return {**found, "includes": EXPANSIONS}


def alphabeta(game: Game, seconds: float, repeats: int) -> dict[str, Any]:
    """Nodes of alpha-beta without a horizon."""
    position = Position(game, seed=SEED)
    room = Room(kernels_of(position), MEGABYTES)

    def begin() -> None:
        room.forget()
        room.begin(position.state, payoff_bound(position), PROVEN)

    begin()
    room.go_on(NODES)
    line = room.memory.frames[: int(room.memory.control["ply"][0]) + 1]
    reached = [room.nodes, *line["move"], *line["best"]]

    def chunk() -> int:
        if room.done:
            begin()
        before = room.nodes
        room.go_on(before + NODES)
        return room.nodes - before

    rates = measure(chunk, seconds, repeats)
    return {**rates.fields(), "includes": VISITS, "plays": signature.of_numbers(reached)}


def self_play(game: Game, agent: Agent, seconds: float, repeats: int) -> dict[str, Any]:
    """Moves that an agent makes against itself; a game that ends is followed by another one."""
    positions = [Position(game, seed=number) for number in range(GAMES)]
    begun, made = GAMES, list[int]()

    def chunk() -> int:
        nonlocal begun
        for _ in range(PLIES):
            keys = [int(episode_key(SEED, g, len(made))) for g in range(GAMES)]
            actions = agent.act(positions, keys)
            made.extend(actions)
            for g, action in enumerate(actions):
                if positions[g].play(action).is_over:
                    positions[g], begun = Position(game, seed=begun), begun + 1
        return PLIES * GAMES

    rates = measure(chunk, seconds, repeats)
    mark = signature.of_numbers(made[: PLIES * GAMES])
    return {**rates.fields(), "includes": PLAY, "plays": mark}
