"""Sudoku tiles.

Where to find what:
    board.py: actions, state, observation, symmetries.
    rules.py: the rules, as kernels.
    deal.py: kernels that deal the start, draw tiles and shuffle the hidden pile.
    starts.py: the options `start` and `draws`, and the start that they describe.
    words.py: names, position texts, sentences, scenes and checks.
    record.py: the `Game` record with its options and variants.
"""
