"""Faults in Sudoku Moyo and what it stands on."""

from tests.faults import Fault

MOYO, SHIMA = "envs/rules/sudoku_moyo.py", "envs/rules/shima.py"
TERRITORY = "envs/rules/territory.py"

FAULTS = (
    Fault(
        "a9 and i9 are no peers",
        "envs/geometry/grid.py",
        "for c in house) - {cell}",
        "for c in house) - {cell, 8 if cell == 0 else cell}",
    ),
    Fault(
        "the last cells of some numbers keep their candidates",
        SHIMA,
        "    state.candidates[third] &= ~(",
        "    state.candidates[third] &= ~ZERO | (",
    ),
    Fault(
        "a region may hold a number twice",
        SHIMA,
        "low, high = low | PEERS[cell, 0], high | PEERS[cell, 1]",
        "low, high = PEERS[cell, 0], PEERS[cell, 1]",
    ),
    Fault(
        "colours swapped", SHIMA, "return player ^ state.light", "return player ^ 1 ^ state.light"
    ),
    Fault(
        "a wrong territory",
        TERRITORY,
        '"LDLL.DDLD"),\n    "corners"',
        '"LDLD.LDLD"),\n    "corners"',
    ),
    Fault(
        "mask bits too many: 1s outside the territory",
        MOYO,
        "    owner = target(state)\n",
        "    owner = target(state)\n    state.territory[owner, 0] = ~ZERO\n",
    ),
    Fault(
        "mask bits too few: no 9s in the lowest rows",
        MOYO,
        "    for w in range(ROW):\n        words[w] =",
        "    for w in range(ROW - 1):\n        words[w] =",
    ),
    Fault(
        "rewards of the wrong sign",
        MOYO,
        "gain if winner == 0 else -gain",
        "-gain if winner == 0 else gain",
    ),
    Fault(
        "the opening is not forced",
        MOYO,
        "    if room_in(state, NEUTRAL):\n",
        "    if state.stage != PLAY and room_in(state, NEUTRAL):\n",
    ),
    Fault(
        "room in the centre does not count as a move",
        MOYO,
        "allowed = state.territory[NEUTRAL, w] | state.territory[side, w]",
        "allowed = state.territory[side, w]",
    ),
    Fault(
        "the mover's moves are asked for, not the opponent's",
        MOYO,
        "elif can_move(state, 1 - mover):",
        "elif can_move(state, mover):",
    ),
    Fault("points off by one", MOYO, "state.streak = state.points", "state.streak = 0"),
    Fault(
        "the winner lays no more than three stones",
        MOYO,
        "    if not can_move(state, winner):\n",
        "    if state.streak > 2 or not can_move(state, winner):\n",
    ),
    Fault(
        "after the end the loser is to move",
        MOYO,
        "    state.payoff = gain if winner == 0 else -gain\n    state.to_move = mover\n",
        "    state.payoff = gain if winner == 0 else -gain\n    state.to_move = 1 - winner\n",
    ),
    Fault(
        "the handicap goes to the wrong player",
        SHIMA,
        "state.to_move = state.handicap_player",
        "state.to_move = 1 - state.handicap_player",
    ),
    Fault(
        "one handicap stone too many",
        SHIMA,
        "if state.handicap > 0 and room_in",
        "if state.handicap > -1 and room_in",
    ),
    Fault(
        "regions are drafted by turns",
        SHIMA,
        "[0, 1, 1, 0, 0, 1, 1, 0]",
        "[0, 1, 0, 1, 0, 1, 0, 1]",
    ),
    Fault(
        "light means dark",
        SHIMA,
        "state.light = action - LIGHT_ACTION",
        "state.light = 1 - action + LIGHT_ACTION",
    ),
    Fault(
        "the other player starts",
        SHIMA,
        "state.starter = action - first_start(state)",
        "state.starter = 1 - action + first_start(state)",
    ),
    Fault(
        "observed always from player_0's side",
        SHIMA,
        "owner = own(state, player ^ side)",
        "owner = own(state, side)",
    ),
    Fault(
        "the observation does not show who lays the handicap",
        SHIMA,
        "lays = 10 if state.handicap_player == player and state.stage < PLAY else 0",
        "lays = 0",
    ),
    Fault(
        "the observation does not show points",
        MOYO,
        "state.streak + 1 if state.points else 0",
        "0",
    ),
    Fault(
        "the text forgets points", MOYO, 'if state["stage"] == POINTS else []', "if False else []"
    ),
    Fault(
        "explain calls the opponent's regions legal",
        MOYO,
        "    if owner != wanted:\n",
        "    if False:\n",
    ),
    Fault(
        "always the first puzzle",
        "envs/rng.py",
        "return random_below(key, 0, starts.shape[0])",
        "return random_below(key, 0, 1)",
    ),
    Fault(
        "a restored state keeps the old masks",
        "envs/adapters/aec.py",
        "        self._follow_state()\n        self.terminations = dict(moment.terminations)\n",
        "        self.terminations = dict(moment.terminations)\n",
    ),
)
