"""Peers and ours in one go, pair by pair: ours before, the peer, ours after."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from azumaya.benchmarks import games, machine, reference
from azumaya.benchmarks.child import run_child
from azumaya.benchmarks.peers.catalogue import Peer
from azumaya.benchmarks.peers.environments import InstallError, environment_of
from azumaya.benchmarks.report import markdown, rate, ratio
from azumaya.benchmarks.results import Results, Row
from azumaya.envs.game import Game

HERE = Path(__file__).parent
SIZES = (256, 1024, 4096)
"""Batch sizes of ours; the best one counts, as for the peers."""
TIME_LIMIT_S = 3600.0
SETTINGS = "peers"
Figures = dict[str, float]


@dataclass(frozen=True)
class Comparison:
    """What is compared, and how long it is measured.

    Attributes:
        game: ours.
        place: where the peers' environments lie.
        seconds, repeats: of each rate.
        only: games of the peers whose name contains one of these words, comma-separated.
    """

    game: Game
    place: Path
    seconds: float = 0.5
    repeats: int = 3
    only: str = ""


def compare(what: Comparison, peers: Iterable[Peer], folder: Path, console: Console) -> bool:
    """Run the peers that have no rows yet; returns whether the run came to its end.

    Raises:
        ResultsError: the folder has rows of another run.
    """
    results = Results(folder, f"{SETTINGS} {what.game.name} {what.seconds} {what.only}".strip())
    finished = True
    try:
        for peer in peers:
            if f"peer/{peer.name}" not in results:
                _one(what, peer, results, console)
    except KeyboardInterrupt:
        finished = False
        console.print("stopped; the same command goes on with this peer")
    results.finish()
    return finished


def _one(what: Comparison, peer: Peer, results: Results, console: Console) -> None:
    """All rows of one peer; the row `peer/<name>` comes last and says that it is done."""
    ending: Row = {"key": f"peer/{peer.name}", "kind": "peer", "peer": peer.name}
    try:
        console.print(f"{peer.name}: its environment")
        python = environment_of(peer, what.place)
        console.print(f"{peer.name}: ours before")
        before = ours(what)
        console.print(f"{peer.name}: {peer.script}")
        rows = run_script(python, peer, what)
        after = ours(what)
        for row in pair_up(peer, rows, before, after, what.game):
            results.add({**row, "load": machine.load()})
        ending["rows"] = len(rows)
    except (InstallError, RuntimeError) as error:
        ending["error"] = f"{type(error).__name__}: {error}"
        console.print(f"{peer.name}: {error}")
    results.add(ending)


def ours(what: Comparison) -> Figures:
    """Our figures by what peers name in `beside`, and CartPole's loop."""
    game, time = what.game, (what.seconds / 2, what.repeats)
    batches = [games.batch(game, "planes", size, 1, *time) for size in SIZES]
    return {
        "CartPole-v1": reference.cartpole(*time)["value"],
        "bare": games.bare(game, *time)["value"],
        "aec raw_env": games.aec(game, "raw_env", *time)["value"],
        "aec env": games.aec(game, "env", *time)["value"],
        "batch step": max(row["value"] for row in batches),
        "batch loop": max(row["loop_value"] for row in batches),
    }


def run_script(python: Path, peer: Peer, what: Comparison) -> list[Row]:
    """The rows a peer's script prints; raises `RuntimeError` where it prints none."""
    command = [str(python), str(HERE / peer.script), f"--seconds={what.seconds}"]
    command += [f"--repeats={what.repeats}", f"--only={what.only}"]
    try:
        # in that folder, as PufferLib leaves a link behind where it runs
        done = run_child(command, TIME_LIMIT_S, folder=python.parents[1])
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{peer.script} took more than {TIME_LIMIT_S:.0f} s") from None
    rows: list[Row] = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"]
    if done.returncode and not rows:
        raise RuntimeError(f"{peer.script}: {done.stderr.strip()[-400:]}")
    return rows


def pair_up(
    peer: Peer, rows: Iterable[Row], before: Figures, after: Figures, game: Game
) -> list[Row]:
    """The peer's rows, each with ours beside it: the mean of before and after."""
    mean = {name: (value + after[name]) / 2 for name, value in before.items()}
    paired = []
    for row in rows:
        key = f"peer/{peer.name}/{row['game']}/{row['config']}"
        full = {"key": key, "kind": "peer", "peer": peer.name, "ours_game": game.name, **row}
        if "value" in row:
            beside = mean[row["beside"]]
            full["ours"] = round(beside, 1)
            full["ours_range"] = sorted((before[row["beside"]], after[row["beside"]]))
            full["ratio"] = float(f"{beside / row['value']:.4g}")
            full["cartpole"] = round(mean["CartPole-v1"], 1)
        paired.append(full)
    return paired


def render(header: Row, rows: list[Row]) -> str:
    """The comparison as Markdown: of each peer's game the best configuration of each kind."""
    best: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        if "value" in row:
            # of batch sizes the best counts; other configurations are different things
            config = row["config"] if not row["config"].startswith("batch") else ""
            key = (row["peer"], row["game"], config)
            best[key] = max(best.get(key, row), row, key=lambda each: each["value"])
    lines = [
        (
            row["peer"], row["game"], row["config"], rate(row["value"]),
            ratio(row["value"], row["cartpole"]), row["beside"], rate(row["ours"]),
            f"**{row['ratio']:.3g}**",
        )
        for row in best.values()
    ]  # fmt: skip
    headings = (
        "peer", "game", "best configuration", "steps/s", "× CartPole", "beside our",
        "ours, steps/s", "ours / peer",
    )  # fmt: skip
    missing = [(row["key"], row["error"]) for row in rows if "error" in row]
    machine_line = ", ".join(f"{name} {value}" for name, value in header["machine"].items())
    game = next((row["ours_game"] for row in rows if "ours_game" in row), "")
    text = (
        f"# Peers\n\nOurs is {game}. Rates are a second of CPU time on one core; every pair was "
        "measured in one go, ours before and after. What a step includes differs and is in "
        f"`rows.jsonl`.\n\n{machine_line}\n\n{markdown(headings, lines)}\n"
    )
    if missing:
        text += "\n## Not measured\n\n" + markdown(("what", "why"), missing) + "\n"
    return text
