"""What is known of the end of a game of Abalone without searching.

- A player who can push out the sixth marble wins at once.
- Near the limit of plies, each move pushes out one marble at most, and whether the first one can is
  seen on the board.

Rule 4 could still upset the second: a player who cannot move loses. So it counts only for players
with enough marbles of their own beside different free cells. Each move of the opponent spoils at
most three of these pairs, by filling cells or by pushing. A marble moved by one cell in line
spoils at most two of the player's own, and such a move is there as long as there is a pair.
"""

from __future__ import annotations

from azumaya.envs.games.abalone.board import MARBLES, TO_WIN
from azumaya.envs.games.abalone.moves import facing_all
from azumaya.envs.games.abalone.rules import free_cells
from azumaya.envs.geometry.hex61 import DIRECTIONS, HAS, facing
from azumaya.envs.kernels.bits import popcount
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import any_bit, load

SPOILT_BY_OPPONENT, SPOILT_BY_OWN = 3, 2
"""The most pairs of a marble and a free cell that a move spoils."""


@kernel
def can_push_out(own, theirs):
    """Whether a player can push an opposing marble off the board."""
    at_edge = ~load(HAS, 0, DIRECTIONS) & theirs
    behind_one = facing_all(facing_all(at_edge) & own) & own
    both = facing_all(at_edge) & theirs
    behind_two = facing_all(facing_all(facing_all(both) & own) & own) & own
    return any_bit(behind_one | behind_two)


@kernel
def pairs(state, player):
    """At least how many pairs there are of a player's marble and a free cell beside it.

    No two pairs have a marble or a cell in common: in all of them the cell is in the same direction
    from the marble.
    """
    free, most = free_cells(state), 0
    for direction in range(DIRECTIONS):
        most = max(most, popcount(state.marbles[player] & facing(free, direction)))
    return most


@kernel
def stays_mobile(state, player, opposing, own):
    """Whether a player who wants to can move after each of `opposing` moves of the opponent.

    Before the last of them the player moves `own` times.
    """
    if opposing == 0:
        return True
    most = SPOILT_BY_OPPONENT * opposing + SPOILT_BY_OWN * own
    return most < MARBLES and pairs(state, player) > most


@kernel
def worth(state, lead):
    """What a player gains at the limit who has pushed out `lead` more marbles than the opponent."""
    if not state.tiebreak or lead == 0:
        return 0
    return 1 if lead > 0 else -1


@kernel
def bounds(state):
    """The least and the most that the player to move still gains: -1 and 1 unless more is known."""
    mover, other = state.to_move, 1 - state.to_move
    left = state.max_plies - state.ply
    spoilt = (SPOILT_BY_OPPONENT + SPOILT_BY_OWN) * left  # twice what a player loses by then
    near = state.max_plies > 0 and spoilt < 2 * MARBLES
    ready = state.out[other] == TO_WIN - 1
    if not (near or ready):
        return -1, 1
    pushes = 1 if can_push_out(state.marbles[mover], state.marbles[other]) else 0
    if pushes and ready:
        return 1, 1
    if not near:
        return -1, 1
    own, opposing = (left + 1) // 2, left // 2
    lead = state.out[other] - state.out[mover]
    least, most = -1, 1
    if state.out[mover] + opposing < TO_WIN and stays_mobile(state, mover, opposing, opposing):
        least = worth(state, lead + pushes - opposing)
    if state.out[other] + pushes + own - 1 < TO_WIN and stays_mobile(state, other, own, own - 1):
        most = worth(state, lead + pushes + own - 1)
    return least, most
