r"""Compare self-play, fictitious self-play and PSRO by how exploitable what they train is.

    python -m azumaya.baselines.training.population --game vierer_dominari --time 1min

The three differ only in whom the learner plays. It is the same in all: the best response of
`azumaya exploit`, a small value network that learns TD(lambda) returns against one agent at a time.

- `self-play`: itself, as it is now.
- `fictitious`: its past versions, all equally often.
- `psro`: the Nash mixture of its past versions, which is found anew from their games against each
  other whenever a version is added (policy-space response oracles).

What comes out is a mixture of versions, of which one is drawn for each game: the newest one for
self-play, all for fictitious self-play, the Nash mixture for PSRO. A response is then trained
against it for the same time, and against the newest version alone. The less it wins from starts
that nobody was trained on, the better. All else is left to `azumaya.baselines.training.value`,
which plays both sides of its games and is the better learner.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from azumaya.baselines.arena.empirical_games import nash_mixture
from azumaya.baselines.arena.exploitability import FINAL_RATE, MOST_SEED, RATE, divided
from azumaya.baselines.arena.game_options import game_named
from azumaya.baselines.arena.intervals import of_pairs, share_of_pairs
from azumaya.baselines.arena.league.ratings import SHARES
from azumaya.baselines.arena.report import markdown, with_interval
from azumaya.baselines.arena.response import STARTS, WIDTH, BestResponse
from azumaya.baselines.arena.rounds import Rounds, StartSet, play_out, score_of, start_set
from azumaya.baselines.system.command_line import Time, read_options
from azumaya.baselines.system.files import check_writable, write_whole
from azumaya.baselines.training.command import exit_code, run_script
from azumaya.baselines.training.config import Numbers, check_values
from azumaya.baselines.values.value import ValueAgent, untrained

PROGRAM = "azumaya.baselines.training.population"
GENERATION = 50
"""Updates between two versions."""

Algorithm = Literal["self-play", "fictitious", "psro"]
ALGORITHMS: tuple[Algorithm, ...] = ("self-play", "fictitious", "psro")


@dataclass(frozen=True)
class Config:
    """The options of a comparison."""

    game: str = "vierer_dominari"
    """The game; one with a book of balanced starts, or with random starts."""
    minutes: Annotated[float, Numbers(0, 10_000, above=True), Time("min", most=10_000)] = 1.0
    """The time of training of each algorithm, and of each response against it."""
    games: Annotated[int, Numbers(0, 10**9)] = 0
    """Train on this many games instead, for the same result on every machine."""
    starts: Annotated[int, Numbers(1, 10_000)] = 100
    """Starts to measure from, in both seats; at most half of the book."""
    seeds: Annotated[int, Numbers(1, 100)] = 1
    """How often all is repeated, with another seed each time."""
    seed: Annotated[int, Numbers(0, MOST_SEED - 100)] = 0
    """The first seed."""
    output: Path | None = None
    """Write the results to this file as JSON."""


@dataclass(frozen=True)
class Mixture:
    """Agents of which one is drawn for each start; `weights` add up to 1, `(n,)`."""

    agents: Sequence[ValueAgent]
    weights: np.ndarray

    def draw(self, random: np.random.Generator, count: int) -> np.ndarray:
        """The numbers of the agents that are drawn, `(count,)`."""
        return random.choice(len(self.agents), count, p=self.weights)


def play(
    starts: StartSet, one: Mixture, other: Mixture, count: int, seed: int, first: int = 0
) -> np.ndarray:
    """How many pairs of games gave mixture `one` 0, 1, 2, 3 and 4 half points, `(5,)`."""
    random = np.random.default_rng(seed)
    drawn = np.stack([one.draw(random, count), other.draw(random, count)], axis=1)
    found = np.zeros(len(SHARES), np.int64)
    for who in np.unique(drawn, axis=0):
        numbers = first + np.flatnonzero((drawn == who).all(1))
        games = Rounds(starts, np.repeat(numbers, 2).tolist(), [0, 1] * len(numbers))
        play_out(games, (one.agents[who[0]], other.agents[who[1]]))
        found += score_of(games, "one", "other").pairs
    return found


class Population:
    """The versions of a learner, and what it plays against.

    Attributes:
        learner: what learns.
        mixture: what it has become: the versions that are kept.
    """

    def __init__(self, algorithm: Algorithm, starts: StartSet, seed: int) -> None:
        self.algorithm, self._starts = algorithm, starts
        value = untrained(starts.game, WIDTH, seed, {})
        self.learner = BestResponse(None, starts, value, seed)
        self._random = np.random.default_rng(seed)
        self._won = np.full((0, 0), 0.5)
        self.mixture = Mixture([], np.zeros(0))
        self._add()

    @property
    def newest(self) -> Mixture:
        """The newest version alone."""
        return Mixture(self.mixture.agents[-1:], np.ones(1))

    def update(self, rate: float) -> None:
        """Play and learn once; now and then another version is added."""
        if self.algorithm != "self-play":
            (drawn,) = self.mixture.draw(self._random, 1)
            self.learner.opponent = self.mixture.agents[drawn]
        self.learner.update(rate)
        if self.learner.games % (GENERATION * 2 * STARTS) == 0:
            self._add()

    def finish(self) -> None:
        """Add what the learner is now."""
        if self.learner.games % (GENERATION * 2 * STARTS):
            self._add()

    def _add(self) -> None:
        value = self.learner.agent.value
        version = ValueAgent(replace(value, weights=value.weights.copy()), self.algorithm)
        if self.algorithm == "self-play":
            self.mixture = Mixture([version], np.ones(1))
            return
        agents = [*self.mixture.agents, version]
        weights = np.full(len(agents), 1 / len(agents))
        if self.algorithm == "psro":
            self._meet(version)
            weights = nash_mixture(self._won - self._won.T)
        self.mixture = Mixture(agents, weights)

    def _meet(self, version: ValueAgent) -> None:
        """Let a version play those before it."""
        size = len(self._won)
        self._won = np.pad(self._won, (0, 1), constant_values=0.5)
        alone = Mixture([version], np.ones(1))
        for place, agent in enumerate(self.mixture.agents):
            against = Mixture([agent], np.ones(1))
            pairs = play(self._starts, alone, against, STARTS, 0, self.learner.games)
            self._won[size, place] = share_of_pairs(pairs.tolist())
            self._won[place, size] = 1 - self._won[size, place]


def spend(config: Config, update: Callable[[float], None]) -> tuple[int, float]:
    """Call `update` with learning rates until the budget is spent; returns games and minutes."""
    began, games, done, minutes = time.monotonic(), 0, 0.0, 0.0
    while done < 1:
        update(RATE + (FINAL_RATE - RATE) * done)
        games += 2 * STARTS
        minutes = (time.monotonic() - began) / 60
        done = games / config.games if config.games else minutes / config.minutes
    return games, minutes


def exploited(config: Config, mixture: Mixture, starts: tuple[StartSet, StartSet]) -> np.ndarray:
    """The pairs of a response that is trained against a mixture, as `play` gives them."""
    training, held_out = starts
    response = BestResponse(None, training, mixture.agents[-1].value, config.seed)
    random = np.random.default_rng(config.seed)

    def update(rate: float) -> None:
        (drawn,) = mixture.draw(random, 1)
        response.opponent = mixture.agents[drawn]
        response.update(rate)

    spend(config, update)
    alone = Mixture([response.agent], np.ones(1))
    return play(held_out, alone, mixture, held_out.at_most(config.starts), config.seed)


@dataclass
class Result:
    """What was measured of a policy over all seeds.

    Attributes:
        algorithm, policy: what it is.
        games, minutes, versions: of its training, by seed.
        response: the pairs of the responses, by seed, `(5,)` each.
        others: its own pairs against the policies of the other algorithms, `(5,)`.
    """

    algorithm: str
    policy: str
    games: list[int] = field(default_factory=list)
    minutes: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    response: list[list[int]] = field(default_factory=list)
    others: list[int] = field(default_factory=lambda: [0] * len(SHARES))

    def row(self) -> tuple[str, ...]:
        """The row of the table."""
        rates = [share_of_pairs(pairs) for pairs in self.response]
        return (
            f"{self.algorithm}, {self.policy}", f"{np.mean(self.games):,.0f}",
            f"{np.mean(self.minutes):.2f}", f"{np.mean(self.versions):.0f}",
            _shown(np.sum(self.response, axis=0)), f"{min(rates):.1%} to {max(rates):.1%}",
            _shown(np.array(self.others)),
        )  # fmt: skip


HEADINGS = (
    "policy", "games", "minutes", "versions", "a response wins", "by seed", "wins against others",
)  # fmt: skip


def _shown(pairs: np.ndarray) -> str:
    if not pairs.sum():
        return ""
    found = pairs.tolist()
    return with_interval(share_of_pairs(found), of_pairs(found))


@dataclass(frozen=True)
class Trained:
    """What has been trained; `found` has the numbers of games, minutes and versions."""

    algorithm: str
    name: str
    mixture: Mixture
    found: dict[str, Any]


def policies_of(config: Config, starts: StartSet) -> Iterator[Trained]:
    """The policies of all algorithms."""
    for algorithm in ALGORITHMS:
        Population(algorithm, starts, config.seed).update(RATE)  # compiles
        population = Population(algorithm, starts, config.seed)
        games, minutes = spend(config, population.update)
        population.finish()
        policies = {"newest": population.newest}
        if algorithm != "self-play":
            policies = {"mixture": population.mixture, **policies}
        for name, mixture in policies.items():
            versions = int((mixture.weights > 0).sum())
            found = {"games": games, "minutes": minutes, "versions": versions}
            yield Trained(algorithm, name, mixture, found)


def measured(config: Config) -> Iterator[tuple[Trained, np.ndarray, np.ndarray]]:
    """Train with one seed; the pairs of a response to each policy, and its own against others."""
    starts = divided(start_set(config.game, {}, config.seed))
    count, policies = starts[1].at_most(config.starts), [*policies_of(config, starts[0])]
    for policy in policies:
        others = np.zeros(len(SHARES), np.int64)
        for other in policies:
            if other.algorithm != policy.algorithm:
                others += play(starts[1], policy.mixture, other.mixture, count, config.seed)
        yield policy, exploited(config, policy.mixture, starts), others


def main(config: Config) -> list[Result]:
    """Compare the algorithms; prints a table and returns its rows."""
    check_values(config)
    config = replace(config, game=game_named(config.game).name)
    if config.output is not None:
        check_writable(config.output, f"--output {config.output}")
    results: dict[tuple[str, str], Result] = {}
    for seed in range(config.seed, config.seed + config.seeds):
        for policy, response, others in measured(replace(config, seed=seed)):
            key = policy.algorithm, policy.name
            result = results.setdefault(key, Result(*key))
            for name, number in {**policy.found, "response": response.tolist()}.items():
                getattr(result, name).append(number)
            result.others = (np.array(result.others) + others).tolist()
            rate = share_of_pairs(response.tolist())
            print(f"seed {seed}: {', '.join(key)}: {rate:.1%}", flush=True)
    rows = list(results.values())
    print(markdown(HEADINGS, [result.row() for result in rows]))
    if config.output is not None:
        write_whole(config.output, json.dumps([asdict(row) for row in rows]).encode())
    return rows


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns its exit code."""
    return exit_code(lambda: main(read_options(Config(), words, f"python -m {PROGRAM}", __doc__)))


if __name__ == "__main__":
    run_script(run_words)
