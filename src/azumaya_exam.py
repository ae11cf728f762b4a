"""Positions of exams as an environment of verifiers, by the id `azumaya-exam`."""

from functools import partial

from azumaya.baselines.text import verifiers
from azumaya.baselines.text.verifiers import ChatHarness, ExamEnv, ExamTaskset

__all__ = ["ChatHarness", "ExamEnv", "ExamTaskset", "load_environment"]

load_environment = partial(verifiers.load_environment, kind="exam")
"""`azumaya.baselines.text.verifiers.load_environment`, for exams."""
