"""Sudoku Moyo, Sudoku Horikomi and the match: games of territory on a Sudoku board.

Where to find what:
    board.py: actions, states, observations, symmetries of all three games.
    moyo.py, horikomi.py, match.py: the rules, one file per game, as kernels.
    endgame.py, race.py, narrowing.py: what a solver can know of Sudoku Moyo; filling.py: of Sudoku
        Horikomi.
    stones.py, before_play.py: kernels that the games share: laying a stone, the stages before play.
    territory.py: `Territory` and the named territories.
    starts.py: from options to start positions.
    moyo_words.py, horikomi_words.py, match_words.py: position texts, sentences, scenes and checks;
        what the games share is in words.py, and in texts.py for position texts.
    record.py: the `Game` records with their options and variants.
"""
