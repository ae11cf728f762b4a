"""Games with language models: prompts, a tolerant reader of answers, an episode loop, adapters."""

from azumaya.baselines.text.answers import Answer, read_answer
from azumaya.baselines.text.episode import TextGame, TextPlayer, play_text_game
from azumaya.baselines.text.prompts import position_prompt, rules_prompt

__all__ = [
    "Answer",
    "TextGame",
    "TextPlayer",
    "play_text_game",
    "position_prompt",
    "read_answer",
    "rules_prompt",
]
