"""The file that students begin with: a random agent for a game, with what they need to know."""

from __future__ import annotations

from azumaya.baselines.classroom.process import Limits
from azumaya.envs import Position, find_game


def starter_text(game: str) -> str:
    """The content of the starter file for a game.

    Raises:
        OptionError: there is no such game.
    """
    record = find_game(game)
    moves = Position(record).legal_moves()
    limits = Limits()
    return f'''"""An agent for {record.title}.

Hand in this one file. Before you do, check it:

    azumaya class check --game {record.name} THIS_FILE.py

The function `act` is called for each move. It gets a `Position`:

    position.to_move          your seat, 0 or 1
    position.legal_moves()    the names of your legal moves, such as {moves[0]!r}
    position.copy()           a copy, to try moves on
    position.play(move)       plays a move in the position itself and returns it
    position.is_over          whether the game has ended
    position.returns()        what each seat has gained; positive means won
    position.observation(0)   the position as an array of numbers
    print(position.draw())    the board as text

How to play {record.title}:

{record.words.how_to_play}

Rules of the competition:

- You have {limits.move:g} seconds for a move, {limits.game:g} seconds for all your moves of a game,
  and {limits.megabytes:,} MiB of memory. The file is loaded in at most {limits.loading:g} seconds.
- An illegal move, an error or too slow a move loses the game.
- You may use Python's standard library, numpy and azumaya.envs. You cannot read or write files,
  start processes or use the network. Threads are allowed, but they share your time: end them
  before you return. A process that takes too much processor time is ended.
- `Position` is compiled before your file is loaded. What else you use, such as `make_vec`, is
  compiled in every process, in a second or two: call it once while the file is loaded.
- `random` and `numpy.random` are seeded before each call, so games can be repeated.
- What the file keeps in global variables stays there between moves and games, as long as nothing
  fails; do not rely on it.
"""

import random


def act(position):
    """Return the name of a legal move."""
    return random.choice(position.legal_moves())


def outcome(position, move):
    """What you have gained after a move: above 0 if it wins at once. An example, not used yet."""
    after = position.copy().play(move)
    return after.returns()[position.to_move]
'''
