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

from azumaya.baselines.search.hints import Hints
from azumaya.envs.games.abalone.board import MARBLES, TO_WIN
from azumaya.envs.games.abalone.rules import free_cells, put_plane
from azumaya.envs.geometry.hex61 import DIRECTIONS, HAS, facing, facing_each, turns
from azumaya.envs.kernels.bits import popcount
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import any_bit, everywhere, load, union

SPOILT_BY_OPPONENT, SPOILT_BY_OWN = 3, 2
"""The most pairs of a marble and a free cell that a move spoils."""
BACK_TURNS = turns((direction + DIRECTIONS // 2) % DIRECTIONS for direction in range(DIRECTIONS))
"""For `facing_each`: the opposite of each direction."""


@kernel
def with_behind(boards):
    """For a row by direction: the cells whose neighbour in the opposite direction is on a board."""
    return facing_each(boards, BACK_TURNS, DIRECTIONS)


@kernel
def pushed_out(own, theirs):
    """Rule 2: the marbles that a player can push off the board, as a row by direction."""
    at_edge, mine = ~load(HAS, 0, DIRECTIONS) & theirs, everywhere(own, DIRECTIONS)
    two = with_behind(mine) & own
    three = with_behind(two) & own
    return at_edge & (with_behind(two) | with_behind(with_behind(three) & theirs))


@kernel
def can_push_out(own, theirs):
    """Whether a player can push an opposing marble off the board."""
    return any_bit(pushed_out(own, theirs))


@kernel
def takes(state, player, board):
    """The marbles that a player's next move could push off the board."""
    found = pushed_out(state.marbles[player], state.marbles[1 - player])
    put_plane(board, 0, union(found))


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


HINTS = Hints(bounds=bounds, takes=takes)
