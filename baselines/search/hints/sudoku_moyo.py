"""What search can know of Sudoku Moyo."""

from __future__ import annotations

from azumaya.baselines.search.hints import Hints
from azumaya.baselines.search.hints.moyo_endgame import OUTLOOK_WORDS, outlook, simplify
from azumaya.baselines.search.hints.moyo_narrowing import narrow
from azumaya.baselines.search.hints.moyo_race import bounds, prospects

HINTS = Hints(
    bounds=bounds,
    simplify=simplify,
    outlook=outlook,
    outlook_words=OUTLOOK_WORDS,
    prospects=prospects,
    narrow=narrow,
)
