"""Positions of exams as an environment of verifiers, by the id `azumaya-exam`."""

from azumaya.baselines.text.verifiers import ChatHarness, ExamEnv, ExamTaskset, load_environment

__all__ = ["ChatHarness", "ExamEnv", "ExamTaskset", "load_environment"]
