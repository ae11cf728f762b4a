"""The league: a round robin in separate processes, and ratings from the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azumaya.baselines.system.imports import lazily

if TYPE_CHECKING:
    from azumaya.baselines.arena.league.cards import AgentCard
    from azumaya.baselines.arena.league.crew import LeagueError
    from azumaya.baselines.arena.league.cross import CrossPlay, Estimates, cross_play
    from azumaya.baselines.arena.league.league import join, local_crew, play_league
    from azumaya.baselines.arena.league.ratings import Rating
    from azumaya.baselines.arena.league.results import LeagueFile, LeagueFileError, PairResult
    from azumaya.baselines.arena.league.schedule import Plan
    from azumaya.baselines.arena.league.standing import Standing, standings

__all__ = [
    "AgentCard",
    "CrossPlay",
    "Estimates",
    "LeagueError",
    "LeagueFile",
    "LeagueFileError",
    "PairResult",
    "Plan",
    "Rating",
    "Standing",
    "cross_play",
    "join",
    "local_crew",
    "play_league",
    "standings",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "cards": "AgentCard",
        "crew": "LeagueError",
        "cross": "CrossPlay Estimates cross_play",
        "league": "join local_crew play_league",
        "ratings": "Rating",
        "results": "LeagueFile LeagueFileError PairResult",
        "schedule": "Plan",
        "standing": "Standing standings",
    },
)
