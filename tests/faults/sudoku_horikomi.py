"""Faults in Sudoku Horikomi; those in the code shared with Sudoku Moyo are in `sudoku_moyo.py`."""

from tests.faults import Fault

RULES = "envs/games/shima/horikomi.py"

FAULTS = (
    Fault(
        "stones of the opening are taken from the stock",
        RULES,
        "    if not is_neutral(state, cell):\n        state.stock",
        "    if state.stock[mover] & bit(4 * number):\n        state.stock",
    ),
    Fault(
        "givens count for the opponent",
        RULES,
        "    for player in range(2):\n        side = own(state, player)\n        stock = FULL",
        "    for player in range(2):\n        side = own(state, 1 - player)\n        stock = FULL",
    ),
    Fault(
        "the stock does not bind",
        RULES,
        "store(packed, 0, load(state.candidates, 0, ROW) & choices)",
        "store(packed, 0, load(state.candidates, 0, ROW))",
    ),
    Fault(
        "the stock binds in the opening too",
        RULES,
        "        store(packed, 0, neutral)\n",
        "        store(packed, 0, neutral & in_stock(state, state.to_move))\n",
    ),
    Fault(
        "the opening is not forced",
        RULES,
        "    if any_bit(neutral):\n",
        "    if False:\n",
    ),
    Fault(
        "nobody is skipped",
        RULES,
        "    elif can_move(state, 1 - player):\n        state.to_move = 1 - player\n",
        "",
    ),
    Fault(
        "after the end the player who cannot move is to move",
        RULES,
        "        state.payoff = winner_sign(state)\n        state.to_move = mover\n",
        "        state.payoff = winner_sign(state)\n        state.to_move = 1 - mover\n",
    ),
    Fault(
        "regions full or not are all the same",
        RULES,
        "return (stones << STONES_RANK) + (1 << (RANK_BITS * stones))",
        "return stones << STONES_RANK",
    ),
    Fault(
        "regions with fewer than five stones do not count",
        RULES,
        "(1 << (RANK_BITS * stones))",
        "(1 << (RANK_BITS * stones) if stones > 4 else 0)",
    ),
    Fault(
        "regions with fewer than seven stones do not count",
        RULES,
        "(1 << (RANK_BITS * stones))",
        "(1 << (RANK_BITS * stones) if stones > 6 else 0)",
    ),
    Fault(
        "more Moyo stones win",
        RULES,
        "return (stones << STONES_RANK)",
        "return (-stones << STONES_RANK)",
    ),
)
