"""A first game of Sudoku Moyo in five moves, for those who have never played it."""

from __future__ import annotations

from azumaya.envs.lesson import Step

END = ".2187.35./4.75.198./85.293..1/51.93762./.76185439/392.64875/2.87..513/164.597.8/735412.96 l"
MIDDLE = (
    ".47.....3/2.1....../8..9...72/38.246..5/..6.5139./.193.7..6/96.5.8.../....7.6.9/.7.....48 l"
)

LESSON = (
    Step(
        say="Dark has one cell left, f9, and only a 6 fits there: you play light, so place a 6 in "
        "the same row or column, and dark has no move.",
        cells=("f9",),
        moves=("6a9", "6f3"),
        otherwise="is allowed, but dark can still place the 6 on f9: a number blocks only its "
        "row, column and block, for the same number.",
        then="Dark is to move and cannot place a number, so light wins: that is how every game "
        "ends. Now to how one begins.",
        position=END,
    ),
    Step(
        say="At the beginning both players place their numbers in the middle block, while any "
        "fits: place one in a free cell there.",
        cells=("d5", "e4"),
        then="The other cell has a red dot: nothing fits there any more, as each row, column and "
        "block has a number once. From now on light places in light regions, dark in dark ones.",
        answer="5f8",
        position=MIDDLE,
    ),
    Step(
        say="Only a 2 fits the dark cell f9: block it with a 2 in column f.",
        cells=("f9",),
        moves=("2f1", "2f2"),
        otherwise="is allowed, but the 2 still fits f9; place a 2 in its column.",
        then="f9 is blocked: dark has one move fewer, and you have used a cell of your own.",
        answer="6d8",
    ),
    Step(
        say="Your cell h8 takes only an 8, and dark can block it with the next move: place the 8 "
        "there while it fits.",
        cells=("h8",),
        moves=("8h8",),
        otherwise="is allowed, but does not save h8; place the 8 there.",
        then="This move is made. Cells that dark cannot block can wait for later.",
        answer="1d9",
    ),
    Step(
        say="One number can block several cells: only a 3 fits the dark cells e7 and e8, so block "
        "both with a 3 in column e.",
        cells=("e7", "e8"),
        moves=("3e1", "3e3"),
        otherwise="is allowed, but the 3 still fits e7 and e8; place a 3 in their column.",
        then="Dark has lost two moves to one of yours. Keep more moves than your opponent, and "
        "you place the last number.",
        answer="2g3",
    ),
)
"""The winning move of a game, then four moves from the end of the opening on."""
