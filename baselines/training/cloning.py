r"""Learn to play as the players of exported games do, then take the exam: behaviour cloning.

    azumaya export games champion random --game sudoku_moyo --pairs 300 --output games
    python -m azumaya.baselines.training.cloning games/games.parquet --player champion

This is a baseline for learning offline: a network learns the moves of a table of `azumaya export`,
and a value from what the players still gained. The games of a tenth of the starts are held out. The
output is a checkpoint, which is an agent by its path wherever agents are named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from torch.nn import functional

from azumaya.baselines.agents.checkpoint import build, save
from azumaya.baselines.agents.network import default_network
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.agents.sidecar import Sidecar, checkpoint_files, describe
from azumaya.baselines.arena.exams import has_exam
from azumaya.baselines.arena.matches import take_exam
from azumaya.baselines.export.table import open_table
from azumaya.baselines.system.command_line import Words, read_options
from azumaya.baselines.system.files import check_writable
from azumaya.baselines.training.command import exit_code, run_script
from azumaya.baselines.training.config import Numbers, check_values
from azumaya.baselines.training.network_config import check_network
from azumaya.baselines.training.policy import Descent, Seen, Threads, adam_of, parts_of
from azumaya.envs import OptionError, find_game, make_vec
from azumaya.envs.extras import require
from azumaya.envs.game import Game

PROGRAM = "azumaya.baselines.training.cloning"
PART, ASKED = 64, 4096
"""Positions that a thread learns from at once, and moves that are held out guessed at once."""
COLUMNS = (
    "observation", "action_mask", "action", "mover", "reward", "ply", "position", "player",
)  # fmt: skip


@dataclass(frozen=True)
class Config:
    """The options of a run."""

    data: Annotated[tuple[str, ...], Words(metavar="FILE", place=True)] = ()
    """A table of games, packed, such as games/games.parquet."""
    output: Path = Path("cloned")
    """The checkpoint to write, without a suffix."""
    player: str = ""
    """Learn only the moves of the player with this name; by default those of all."""
    network: str = ""
    """The kind of network; by default the one that suits the game."""
    epochs: Annotated[int, Numbers(1, 1000)] = 10
    """How often each move is learnt from."""
    batch: Annotated[int, Numbers(1, 65536)] = 256
    """Moves in an update."""
    learning_rate: Annotated[float, Numbers(0, 1)] = 1e-3
    """The step size of Adam."""
    value: Annotated[float, Numbers(0, 100)] = 0.5
    """The weight of the value's error beside that of the policy."""
    threads: Annotated[int, Numbers(1, 1024)] = 2
    """Threads that evaluate the network. Results do not depend on their number."""
    seed: Annotated[int, Numbers(0, 2**63 - 1)] = 0
    """Seed of the first weights and of the order of moves."""


class Moves:
    """The moves of a table: what was seen, actions and outcomes, `(n, ...)`.

    Agents that leave nothing to chance repeat their games from a start, so whole starts are held
    out: `learnt` and `held_out` are the rows.
    """

    def __init__(self, path: str, player: str = "") -> None:
        file, self.about = open_table(path)
        arrow = require("pyarrow", "data")
        with file:
            if self.about["table"] != "games" or self.about["planes"]:
                raise OptionError(f"{path}: a table of games without --planes is needed")
            table = file.read(columns=[*COLUMNS])
        columns = {name: table[name].combine_chunks() for name in COLUMNS}
        words = (columns[name].flatten().to_numpy().astype(np.int64) for name in COLUMNS[:2])
        self.seen = Seen(*(torch.from_numpy(each.reshape(len(table), -1)) for each in words))
        actions, movers, rewards, plies = (
            columns[name].to_numpy().astype(np.int64) for name in COLUMNS[2:6]
        )
        self.actions, begins = torch.from_numpy(actions), plies == 0
        self.outcomes = torch.from_numpy(still_gained(movers, rewards, begins))
        starts = columns["position"].filter(arrow.array(begins)).to_pylist()
        different = [*dict.fromkeys(starts)]
        if len(different) == 1:
            raise OptionError(
                f"{path}: all games begin alike, but those of some starts are held out; export "
                "games from several starts"
            )
        last = set(different[-max(1, len(different) // 10) :])
        held_out = np.array([start in last for start in starts])[np.cumsum(begins) - 1]
        players = columns["player"].to_pylist()
        wanted = np.array([name == player or not player for name in players])
        self.learnt, self.held_out = (
            torch.from_numpy(np.flatnonzero(wanted & part)) for part in (~held_out, held_out)
        )
        if not (len(self.learnt) and len(self.held_out)):
            there = ", ".join(dict.fromkeys(players))
            raise OptionError(f"{path}: too few moves of {player or 'any player'}; it has {there}")

    @property
    def game(self) -> Game:
        """The game."""
        return find_game(self.about["game"])

    def at(self, rows: torch.Tensor) -> tuple[Seen, torch.Tensor, torch.Tensor]:
        """What was seen, the actions and the outcomes, `(B,)`."""
        return self.seen.at(rows), self.actions[rows], self.outcomes[rows]


def still_gained(movers: np.ndarray, rewards: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """What each mover still gained from its move on, as values of networks are, `(n,)` float32.

    Args:
        movers: the players, `(n,)`.
        rewards: what they gained by each move, `(n,)`.
        begins: whether it is the first of its game, `(n,)` bool.
    """
    signs = 1 - 2 * movers
    left = np.append(np.cumsum((signs * rewards)[::-1])[::-1], 0)  # for player_0, of all games
    ends = np.append(np.flatnonzero(begins)[1:], len(begins))[np.cumsum(begins) - 1]
    found: np.ndarray = (signs * (left[:-1] - left[ends])).astype(np.float32)
    return found


def train(config: Config, moves: Moves, sidecar: Sidecar) -> Path:
    """Learn from all moves but those held out, and save after each pass; returns the file."""
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)  # the threads share the positions instead
    network = build(sidecar)

    def losses(rows: torch.Tensor) -> dict[str, torch.Tensor]:
        seen, actions, outcomes = moves.at(rows)
        found = threads.policy(network, seen)
        policy_loss = functional.nll_loss(found.log_probs(), actions, reduction="sum")
        value_loss = functional.mse_loss(found.values, outcomes, reduction="sum")
        return {"loss": policy_loss + config.value * value_loss}

    env = make_vec(moves.game.name, 1, observation="packed", **moves.about["options"])
    with closing(env), closing(Threads(config.threads, env.unpack, part=PART)) as threads:
        adam = adam_of(network, config.learning_rate)
        descent = Descent(network, adam, threads, math.inf, losses)
        for epoch in range(1, config.epochs + 1):
            mixed = moves.learnt[torch.randperm(len(moves.learnt))]
            for rows in parts_of(mixed, config.batch):
                descent.step(rows)
            guessed = 0
            for rows in parts_of(moves.held_out, ASKED):
                seen, actions, _ = moves.at(rows)
                best = threads.ask(network, seen).log_probs().argmax(1)
                guessed += int((best == actions).sum())
            share = guessed / len(moves.held_out)
            file = save(config.output, network.state_dict(), sidecar)
            print(f"epoch {epoch}: {share:.1%} of held-out moves guessed; {file} saved", flush=True)
    return file


def main(config: Config) -> dict[str, Any] | None:
    """Train; returns the result of the exam, if the game has one."""
    check_values(config)
    if len(config.data) != 1:
        raise OptionError("name one table of games, such as games/games.parquet")
    moves = Moves(config.data[0], config.player)
    game, actions = moves.game, moves.about["num_actions"]
    check_network(config.network, game.name)
    kind = config.network or default_network(game)
    if not config.output.name:
        raise OptionError(f"--output {config.output}: is a folder; name a checkpoint in it")
    for file in checkpoint_files(config.output):  # before an hour of learning, not after
        file.parent.mkdir(parents=True, exist_ok=True)
        check_writable(file, f"--output {config.output}")
    options = moves.about["options"]
    sidecar = describe(
        game, actions, kind, {}, options=options, notes={"cloned from": config.data[0]}
    )
    file = train(config, moves, sidecar)
    if options or not has_exam(game.name):
        return None
    result = take_exam(PolicyAgent.load(file), game.name).as_object()
    print(f"exam: {result['kept_wins']:.1%} of wins kept, {result['regret']:.3f} regret")
    return result


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns its exit code."""
    return exit_code(lambda: main(read_options(Config(), words, f"python -m {PROGRAM}", __doc__)))


if __name__ == "__main__":
    run_script(run_words)
