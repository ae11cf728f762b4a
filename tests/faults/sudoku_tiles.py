"""Faults in Sudoku tiles and in the code it builds on.

The first fault is planted here because only this game has rewards before its end.
"""

from tests.faults import Fault

RULES = "envs/games/tiles/rules.py"

FAULTS = (
    Fault(
        "rewards of earlier steps are handed out again",
        "envs/adapters/aec/raw_env.py",
        "        self._cumulative_rewards[agent] = 0.0\n",
        "",
    ),
    Fault(
        "a tile on the crossing of two houses counts twice",
        RULES,
        "        near += popcount(PEERS[cell, w] & ~state.empty[w])\n    return near",
        "        near += popcount(PEERS[cell, w] & ~state.empty[w])\n    return near + near // 12",
    ),
    Fault(
        "a tile counts itself too",
        RULES,
        "        gain = points_on(state, action)\n",
        "        gain = points_on(state, action) + 1\n",
    ),
    Fault(
        "a tile misplaced scores too",
        RULES,
        "    if state.height == 0:\n        state.tile = 0\n",
        "    else:\n        state.scores[mover] += points_on(state, action)\n"
        "    if state.height == 0:\n        state.tile = 0\n",
    ),
    Fault(
        "with misplacement the game goes on while a cell is empty",
        RULES,
        "    if fits(state, state.tile - 1):\n",
        "    if fits(state, state.tile - 1) or state.misplacement:\n",
    ),
    Fault(
        "after a misplacement the same player goes on",
        RULES,
        "        state.to_move = 1 - mover\n",
        "        state.to_move = 1 - mover if not has(state.empty[action >> 6], action & 63)"
        " else mover\n",
    ),
    Fault(
        "with points as reward the winner gets one more",
        RULES,
        "    if not state.points:\n        lead",
        "    if True:\n        lead",
    ),
    Fault(
        "only cells where the tile fits are actions, misplacement or not",
        RULES,
        "state.empty[w] if state.misplacement else may_lie(state, w)",
        "may_lie(state, w)",
    ),
    Fault(
        "the last tile is never laid",
        RULES,
        "    if state.height == 0:\n        state.tile = 0\n",
        "    if state.height <= 1:\n        state.tile = 0\n",
    ),
)
