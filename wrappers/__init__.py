"""Wrappers: environments in other forms, for example for one seat, for SB3, or transformed."""

from azumaya.wrappers.draws import random_transform
from azumaya.wrappers.flat import FlatObservations
from azumaya.wrappers.match import Match
from azumaya.wrappers.record import RecordGames
from azumaya.wrappers.single_agent import SingleAgentEnv
from azumaya.wrappers.statistics import SeatStatistics
from azumaya.wrappers.symmetry import Augmented, AugmentedAEC
from azumaya.wrappers.transform import Transform

__all__ = [
    "Augmented",
    "AugmentedAEC",
    "FlatObservations",
    "Match",
    "RecordGames",
    "SeatStatistics",
    "SingleAgentEnv",
    "Transform",
    "random_transform",
]
