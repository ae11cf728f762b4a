r"""Learn to play as the players of exported games do, then take the exam: behaviour cloning.

    azumaya export games champion random --game sudoku_moyo --pairs 300 --output games
    python -m azumaya.baselines.training.cloning games/games.parquet --player champion

This is a baseline for learning offline: a network learns the moves of a table of `azumaya export`,
and a value from the results of the games. The games of a tenth of the starts are held out. The
output is a checkpoint, which is an agent by its path wherever agents are named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from azumaya.baselines.agents.checkpoint import build, save
from azumaya.baselines.agents.network import NETWORKS, can_play, default_network
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.agents.sidecar import Sidecar, checkpoint_files, describe
from azumaya.baselines.arena.exams import has_exam
from azumaya.baselines.arena.matches import take_exam
from azumaya.baselines.export.table import open_table
from azumaya.baselines.system.command_line import Words, read_options
from azumaya.baselines.system.files import check_writable
from azumaya.baselines.training.command import exit_code, run_script
from azumaya.baselines.training.config import Numbers, check_values
from azumaya.baselines.training.policy import parts_of
from azumaya.envs import OptionError, find_game
from azumaya.envs.extras import require
from azumaya.envs.game import Game
from azumaya.envs.observation import unpack_bits, unpack_planes

PROGRAM = "azumaya.baselines.training.cloning"
COLUMNS = ("observation", "action_mask", "action", "result", "ply", "position", "player")


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
    seed: Annotated[int, Numbers(0, 2**63 - 1)] = 0
    """Seed of the first weights and of the order of moves."""


class Moves:
    """The moves of a table: packed observations and masks, actions and outcomes, `(n, ...)`.

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
        self.words, self.masks = (
            columns[name].flatten().to_numpy().reshape(len(table), -1) for name in COLUMNS[:2]
        )
        self.actions, results, plies = (columns[name].to_numpy() for name in COLUMNS[2:5])
        self.outcomes = np.sign(results).astype(np.float32)
        begins = plies == 0
        starts = columns["position"].filter(arrow.array(begins)).to_pylist()
        different = [*dict.fromkeys(starts)]
        last = set(different[-max(1, len(different) // 10) :])
        held_out = np.array([start in last for start in starts])[np.cumsum(begins) - 1]
        players = columns["player"].to_pylist()
        wanted = np.array([name == player or not player for name in players])
        self.learnt = np.flatnonzero(wanted & ~held_out)
        self.held_out = np.flatnonzero(wanted & held_out)
        if not (len(self.learnt) and len(self.held_out)):
            there = ", ".join(dict.fromkeys(players))
            raise OptionError(f"{path}: too few moves of {player or 'any player'}; it has {there}")

    @property
    def game(self) -> Game:
        """The game."""
        return find_game(self.about["game"])

    def some(self, rows: np.ndarray) -> tuple[torch.Tensor, ...]:
        """Planes `(B, C, rows, columns)`, masks `(B, A)`, actions and outcomes `(B,)`."""
        planes = unpack_planes(self.game, self.words[rows])
        masks = unpack_bits(self.masks[rows], self.about["num_actions"]).astype(bool)
        arrays = planes, masks, self.actions[rows].astype(np.int64), self.outcomes[rows]
        return tuple(torch.from_numpy(array) for array in arrays)


def losses(network: nn.Module, moves: Moves, rows: np.ndarray) -> tuple[torch.Tensor, ...]:
    """The error of the policy and that of the value, and the share of moves that are guessed."""
    planes, masks, actions, outcomes = moves.some(rows)
    logits, values = network(planes)
    logits = logits.masked_fill(~masks, -torch.inf)
    guessed = (logits.argmax(1) == actions).float().mean()
    return functional.cross_entropy(logits, actions), functional.mse_loss(values, outcomes), guessed


def train(config: Config, moves: Moves, sidecar: Sidecar) -> Path:
    """Learn from all moves but those held out, and save after each pass; returns the file."""
    torch.manual_seed(config.seed)
    network = build(sidecar)
    adam = torch.optim.Adam(network.parameters(), config.learning_rate)
    rng = np.random.default_rng(config.seed)
    for epoch in range(1, config.epochs + 1):
        network.train()
        for rows in parts_of(rng.permutation(moves.learnt), config.batch):
            policy, value, _ = losses(network, moves, rows)
            adam.zero_grad()
            (policy + config.value * value).backward()  # type: ignore[no-untyped-call]
            adam.step()
        network.eval()
        with torch.inference_mode():
            right = sum(
                losses(network, moves, rows)[2].item() * len(rows)
                for rows in parts_of(moves.held_out, config.batch)
            )
        file = save(config.output, network.state_dict(), sidecar)
        guessed = f"{right / len(moves.held_out):.1%} of held-out moves guessed"
        print(f"epoch {epoch}: {guessed}; {file} saved", flush=True)
    return file


def main(config: Config) -> dict[str, Any] | None:
    """Train; returns the result of the exam, if the game has one."""
    check_values(config)
    if len(config.data) != 1:
        raise OptionError("name one table of games, such as games/games.parquet")
    moves = Moves(config.data[0], config.player)
    game, actions = moves.game, moves.about["num_actions"]
    kind = config.network or default_network(game)
    if kind not in NETWORKS or not can_play(kind, game):
        raise OptionError(f"--network {kind}: no such network plays {game.name}")
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
