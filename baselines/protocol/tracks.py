"""What is compared: training budgets, contenders, and the games that stand for all.

A contender is the name of an agent, as `find_agent` takes it, in which some words in braces stand
for something else: `{game}` and `{seed}` for the cell that is measured, and the name of one of the
library's algorithms, such as `{ppo}`, for the checkpoint that it trains there within the budget.
The name of an algorithm alone stands for the same. So `puct:100:{alphazero}` searches with what
AlphaZero has learned, and `runs/mine-{game}-{seed}/policy` was trained by somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from azumaya.baselines.arena.game_options import game_named
from azumaya.envs import GAMES, OptionError
from azumaya.envs.errors import did_you_mean

ALGORITHMS = ("value", "ppo", "alphazero", "maskable_ppo")
"""The library's algorithms, each a script of `azumaya.baselines.training`, the default first."""
ON_A_GPU = ("ppo", "alphazero")
"""The algorithms that run on a GPU."""
CONTENDERS = ("random", "greedy", "uct:100", "champion", *ALGORITHMS)
"""Those of the table, if none are named."""
AZUMAYA_3 = ("sudoku_moyo", "halma_dominari", "vierer_dominari")
"""Games that stand for all eight: see `azumaya.benchmarks.studies.subsets`."""
GROUPS: Mapping[str, tuple[str, ...]] = {"azumaya-3": AZUMAYA_3}
"""Names that stand for several games."""


@dataclass(frozen=True)
class Track:
    """A training budget.

    Attributes:
        name: as typed on the command line.
        steps: the steps that a training may make: moves that are learned from; 0 for any number.
        minutes: the time that it may take, measurements during training included; 0 for any.
        threads: the threads that it may use.
        device: where networks are: `cpu` or `cuda`.
    """

    name: str
    steps: int = 0
    minutes: float = 0.0
    threads: int = 1
    device: str = "cpu"

    @property
    def about(self) -> str:
        """The budget in words."""
        if self.steps:
            return f"{self.steps:,} steps"
        where = "one GPU" if self.device == "cuda" else f"{self.threads} CPU cores"
        return f"{self.minutes:g} minutes on {where}"

    def check(self, algorithm: str) -> None:
        """Check that an algorithm can be trained on this track.

        Raises:
            OptionError: the algorithm does not run on this device.
        """
        known = ON_A_GPU if self.device == "cuda" else ALGORITHMS
        if algorithm not in known:
            raise OptionError(
                f"{algorithm} on the track {self.name}: it does not run on a GPU; choose "
                f"{' or '.join(known)}"
            )


TRACKS: Mapping[str, Track] = {
    track.name: track
    for track in (
        Track("1M", steps=10**6),
        Track("10M", steps=10**7),
        Track("100M", steps=10**8),
        Track("10min-cpu", minutes=10.0, threads=2),
        Track("10min-gpu", minutes=10.0, threads=8, device="cuda"),
    )
}
"""The tracks by name."""


@dataclass(frozen=True)
class Job:
    """One cell of the table: what is trained, if anything, and measured.

    Attributes:
        contender: as described above.
        game: the name of the game.
        track: the name of the track; empty for a contender that the library does not train.
        seed: the seed of training, and of the starts of measuring.
    """

    contender: str
    game: str
    track: str
    seed: int

    @property
    def label(self) -> str:
        """The contender with its track, if it has one."""
        return f"{self.contender} ({self.track})" if self.track else self.contender

    def __str__(self) -> str:
        return f"{self.label}, {self.game}, seed {self.seed}"


def algorithm_of(contender: str) -> str:
    """The algorithm that trains a contender; empty if the library trains none for it."""
    if contender in ALGORITHMS:
        return contender
    return next((word for word in re.findall(r"{(\w+)}", contender) if word in ALGORITHMS), "")


def agent_name(job: Job, policy: Path) -> str:
    """The name of the agent of a cell, as `find_agent` takes it.

    Args:
        job: the cell.
        policy: the checkpoint that its algorithm has trained.

    Raises:
        OptionError: a word in braces stands for nothing.
    """
    algorithm = algorithm_of(job.contender)
    text = f"{{{algorithm}}}" if job.contender == algorithm else job.contender
    words = {"game": job.game, "seed": str(job.seed), algorithm: str(policy)}

    def meaning(match: re.Match[str]) -> str:
        if match[1] not in words:
            known = ", ".join(f"{{{word}}}" for word in ("game", "seed", *ALGORITHMS))
            raise OptionError(
                f"contender {job.contender}: {{{match[1]}}} must be one of {known}, and there can "
                "be one algorithm only"
            )
        return words[match[1]]

    return re.sub(r"{(\w+)}", meaning, text)


def jobs_of(
    contenders: Sequence[str], games: Sequence[str], track: Track, seeds: Sequence[int]
) -> list[Job]:
    """All cells, seed by seed; those of contenders that are not trained have no track.

    Raises:
        OptionError: a contender's words stand for nothing, or it cannot be trained on this track.
    """
    jobs = []
    for seed in seeds:
        for game in games:
            for contender in dict.fromkeys(contenders):
                algorithm = algorithm_of(contender)
                if algorithm:
                    track.check(algorithm)
                job = Job(contender, game, track.name if algorithm else "", seed)
                agent_name(job, Path())
                jobs.append(job)
    return jobs


def games_named(names: Iterable[str]) -> tuple[str, ...]:
    """Games by name, of which some stand for several, such as `azumaya-3`; none stands for all.

    Raises:
        OptionError: a name is unknown.
    """
    given = [each for name in names for each in GROUPS.get(name, (name,))]
    return tuple(dict.fromkeys(game_named(name).name for name in given)) or tuple(GAMES)


def track_named(name: str) -> Track:
    """A track by its name.

    Raises:
        OptionError: it is unknown.
    """
    if name not in TRACKS:
        known = f"must be one of {', '.join(TRACKS)}{did_you_mean(name, TRACKS)}"
        raise OptionError(f"--track {name}: {known}")
    return TRACKS[name]
