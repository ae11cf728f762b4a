"""Faults in Sudoku Moyo and in the code it builds on."""

from tests.faults import Fault

MOYO, STONES = "envs/games/shima/moyo.py", "envs/games/shima/stones.py"
BEFORE_PLAY, BOARD = "envs/games/shima/before_play.py", "envs/games/shima/board.py"
WORDS = "envs/games/shima/moyo_words.py"
TERRITORY = "envs/games/shima/territory.py"

FAULTS = (
    Fault(
        "a9 and i9 are no peers",
        "envs/geometry/grid.py",
        "for c in house) - {cell}",
        "for c in house) - {cell, 8 if cell == 0 else cell}",
    ),
    Fault(
        "the last cells of some numbers keep their candidates",
        STONES,
        "    return row | word_at(index + 2, third, ROW)\n",
        "    return row\n",
    ),
    Fault(
        "a region may hold a number twice",
        STONES,
        "row_from(at, low | PEERS[cell, 0], high | PEERS[cell, 1])",
        "row_from(at, PEERS[cell, 0], PEERS[cell, 1])",
    ),
    Fault(
        "colours swapped", STONES, "return player ^ state.light", "return player ^ 1 ^ state.light"
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
        "        store(packed, 0, load(state.candidates, 0, ROW) & side)\n",
        "        store(packed, 0, load(state.candidates, 0, ROW) & side)\n"
        "        packed[0] |= state.candidates[0]\n",
    ),
    Fault(
        "mask bits too few: no 9s in the lowest rows",
        MOYO,
        "        store(packed, 0, load(state.candidates, 0, ROW) & side)\n",
        "        store(packed, 0, load(state.candidates, 0, ROW) & side)\n"
        "        packed[ROW - 1] -= packed[ROW - 1]\n",
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
        "    if any_bit(neutral):\n",
        "    if state.stage != PLAY and any_bit(neutral):\n",
    ),
    Fault(
        "room in the centre does not count as a move",
        MOYO,
        "load(state.candidates, 0, ROW) & ~forbidden)",
        "load(state.candidates, 0, ROW) & stones_of(state, own(state, player)))",
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
        BEFORE_PLAY,
        "state.to_move = state.handicap_player",
        "state.to_move = 1 - state.handicap_player",
    ),
    Fault(
        "one handicap stone too many",
        BEFORE_PLAY,
        "if state.handicap > 0 and neutral_room",
        "if state.handicap > -1 and neutral_room",
    ),
    Fault(
        "regions are drafted by turns",
        BOARD,
        "[0, 1, 1, 0, 0, 1, 1, 0]",
        "[0, 1, 0, 1, 0, 1, 0, 1]",
    ),
    Fault(
        "light means dark",
        BEFORE_PLAY,
        "state.light = action - LIGHT_ACTION",
        "state.light = 1 - action + LIGHT_ACTION",
    ),
    Fault(
        "the other player starts",
        BEFORE_PLAY,
        "state.starter = action - first_start(state)",
        "state.starter = 1 - action + first_start(state)",
    ),
    Fault(
        "observed always from player_0's side",
        STONES,
        "owner = own(state, player ^ side)",
        "owner = own(state, side)",
    ),
    Fault(
        "the observation does not show who lays the handicap",
        BEFORE_PLAY,
        "lays = 10 if state.handicap > 0 and state.handicap_player == player else 0",
        "lays = 0",
    ),
    Fault(
        "the observation does not show points",
        MOYO,
        "state.streak + 1 if state.points else 0",
        "0",
    ),
    Fault(
        "the text forgets points", WORDS, 'if state["stage"] == POINTS else []', "if False else []"
    ),
    Fault(
        "explain calls the opponent's regions legal",
        WORDS,
        "    if owner != wanted:\n",
        "    if False:\n",
    ),
    Fault(
        "always the first puzzle",
        "envs/kernels/rng.py",
        "return random_below(key, 0, starts.shape[0])",
        "return random_below(key, 0, 1)",
    ),
    Fault(
        "a restored state keeps the old masks",
        "envs/adapters/aec/raw_env.py",
        "        self._follow_state(moment.agents)\n"
        "        self.terminations = dict(moment.terminations)\n",
        "        self.terminations = dict(moment.terminations)\n",
    ),
)
