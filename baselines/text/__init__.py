"""Games and exams for language models: prompts, a tolerant reader of answers, loops, adapters."""

from azumaya.baselines.text.answers import Answer, read_answer
from azumaya.baselines.text.duel import TextDuel
from azumaya.baselines.text.episode import TextGame, TextPlayer, play_text_game
from azumaya.baselines.text.exam import TextExam, TextExamResult, text_exam
from azumaya.baselines.text.exam_files import score_answers, write_prompts
from azumaya.baselines.text.exam_run import take_text_exam
from azumaya.baselines.text.prompts import position_prompt, rules_prompt

__all__ = [
    "Answer",
    "TextDuel",
    "TextExam",
    "TextExamResult",
    "TextGame",
    "TextPlayer",
    "play_text_game",
    "position_prompt",
    "read_answer",
    "rules_prompt",
    "score_answers",
    "take_text_exam",
    "text_exam",
    "write_prompts",
]
