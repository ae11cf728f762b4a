"""Compare peers with ours in one run: for each peer, ours before it and again after it.

On a GPU only the game that peers and we have is compared, with the same numbers of games.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from azumaya.baselines.arena.report import counted, markdown
from azumaya.baselines.system.processes import how_ended
from azumaya.benchmarks import device, games, machine, reference, search
from azumaya.benchmarks.child import run_child
from azumaya.benchmarks.peers.catalogue import Peer
from azumaya.benchmarks.peers.environments import InstallError, environment_of
from azumaya.benchmarks.report import machine_line
from azumaya.benchmarks.results import NOTHING, Results, Row, is_measured
from azumaya.benchmarks.tables import rate, ratio
from azumaya.benchmarks.yardstick import connect_four
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game

HERE = Path(__file__).parent
SIZES = (256, 1024, 4096)
"""Batch sizes of ours; the best one counts, as for the peers."""
GPU_SIZES = (1 << 10, 1 << 14, 1 << 17, 1 << 20)
"""Numbers of games on a GPU, for the peers as well; each one is a row."""
TIME_LIMIT_S = 3600.0
SETTINGS = "peers"
SAME = "same game"
"""The kind of the rows in which the peer and we play Connect Four."""
SAME_GAME = (
    "The same rules on both sides: 7 columns, 6 rows, random legal play. What a step shows and "
    "does still differs."
)
"""No more than holds of every run: what a row counts is said by the row, as it was measured."""
INCLUDES = {
    "bare": games.BARE,
    "uct": search.ROLLOUTS.format(cut=search.TO_THE_END),
    "alphabeta": search.VISITS,
    "aec raw_env": games.AEC,
    "aec env": games.AEC,
    "batch step": games.STEP,
    "batch loop": f"{games.STEP}; the random choice of the action counts in the time",
}
"""What our figures count."""
ON_GPU = f"{games.STEP}; with the random choice of the action as one CUDA graph"
"""What they count on a GPU."""
Figures = dict[str, float]


@dataclass(frozen=True)
class Comparison:
    """What is compared, and how long it is measured.

    Attributes:
        game: our game.
        place: the folder of the peers' environments.
        seconds, repeats: the length and number of the repeats of each rate.
        only: comma-separated words; only peers' games whose names contain one are measured. Empty
            for all games.
        device: `cpu` or `cuda`.
        python: a Python in which the peers are installed; None makes an environment for each.

    Raises:
        OptionError: `only` is given, but one of its words is empty; or there is no such Python.
    """

    game: Game
    place: Path
    seconds: float = 0.5
    repeats: int = 3
    only: str = ""
    device: str = "cpu"
    python: Path | None = None

    def __post_init__(self) -> None:
        words = [word.strip() for word in self.only.split(",")]
        if self.only and not all(words):
            raise OptionError(
                f"only={self.only!r}: a word is empty, and every name contains it; give words such "
                "as go,hex"
            )
        object.__setattr__(self, "only", ",".join(words))
        if self.python is not None:
            found = shutil.which(str(self.python))
            if found is None:
                raise OptionError(
                    f"python={str(self.python)!r}: there is no such program; name one such as "
                    "env/bin/python"
                )
            object.__setattr__(self, "python", Path(found).absolute())  # scripts run elsewhere

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU is measured."""
        return self.device == "cuda"


def compare(what: Comparison, peers: Iterable[Peer], folder: Path, console: Console) -> bool:
    """Run the peers that are not finished yet; returns whether the run came to its end.

    A peer with a row that could not be measured is run again.

    Raises:
        ResultsError: the folder has rows of another run.
    """
    name = what.device if what.on_gpu else what.game.name
    settings = f"{SETTINGS} {name} {what.repeats}x{what.seconds} {what.only}".strip()
    results = Results(folder, settings, device.about() if what.on_gpu else NOTHING)
    if before := results.measured():
        console.print(f"{folder}: keeps {counted(before, 'row')} measured before")
    finished = True
    try:
        for peer in peers:
            if not is_finished(peer, results):
                _one(what, peer, results, console)
    except KeyboardInterrupt:
        finished = False
    return finished


def is_finished(peer: Peer, results: Results) -> bool:
    """Whether all rows of a peer have been measured."""
    mine = [row for row in results.rows.values() if row.get("peer") == peer.name]
    return f"peer/{peer.name}" in results and all(is_measured(row) for row in mine)


def _one(what: Comparison, peer: Peer, results: Results, console: Console) -> None:
    """All rows of one peer; the row `peer/<name>` comes last and says that it is done."""
    ending: Row = {"key": f"peer/{peer.name}", "kind": "peer", "peer": peer.name}
    try:
        console.print(f"{peer.name}: its environment")
        here = replace(peer, packages=peer.cuda) if what.on_gpu else peer
        python = what.python or environment_of(here, what.place)
        mine = ours_beside(what, peer)
        console.print(f"{peer.name}: ours before")
        before = [ours(what, game) for game in mine]
        console.print(f"{peer.name}: {peer.script}")
        rows, failure = run_script(python, peer, what)
        after = [ours(what, game) for game in mine]
        found = list[Row]()
        for game, first, last in zip(mine, before, after, strict=True):
            pair = pair_up if game is what.game else _same_game
            found += pair(peer, rows, first, last, game)
        for row in found:
            results.add({**row, "load": machine.load()})
        ending["rows"] = len(rows)
        if failure:
            raise RuntimeError(failure)
        _drop_others(peer, {row["key"] for row in found}, results)
    except (InstallError, RuntimeError) as error:
        ending["error"] = f"{type(error).__name__}: {error}"
        console.print(f"{peer.name}: {error}")
    results.add(ending)


def _drop_others(peer: Peer, keys: Set[str], results: Results) -> None:
    """Drop a peer's earlier rows: that of a failure may have a key that no measured row has."""
    mine = {key for key, row in results.rows.items() if row.get("peer") == peer.name}
    results.remove(mine - keys)


def ours_beside(what: Comparison, peer: Peer) -> list[Game]:
    """Our games to measure beside a peer: Connect Four as well where the peer's is measured."""
    if what.on_gpu:
        return [connect_four.GAME]
    wanted = any(word in peer.connect_four.lower() for word in what.only.lower().split(","))
    return [what.game, connect_four.GAME] if peer.connect_four and wanted else [what.game]


def ours(what: Comparison, game: Game) -> Figures:
    """The figures of a game of ours by the names that peers use in `beside`, and of CartPole."""
    time = what.seconds / 2, what.repeats
    if what.on_gpu:
        each = {size: device.replayed(game, "planes", size, *time) for size in GPU_SIZES}
        return {f"{size} games": row["value"] for size, row in each.items()}
    hidden = game.rules.resample is not None  # alpha-beta refuses such games
    batches = [games.batch(game, "planes", size, 1, *time) for size in SIZES]
    return {
        "CartPole-v1": reference.cartpole(*time)["value"],
        "bare": games.bare(game, *time)["value"],
        "uct": search.uct(game, 0, *time)["value"],
        "alphabeta": 0.0 if hidden else search.alphabeta(game, *time)["value"],
        "aec raw_env": games.aec(game, "raw_env", *time)["value"],
        "aec env": games.aec(game, "env", *time)["value"],
        "batch step": max(row["value"] for row in batches),
        "batch loop": max(row["loop_value"] for row in batches),
    }


def run_script(python: Path, peer: Peer, what: Comparison) -> tuple[list[Row], str]:
    """The rows that a peer's script prints, and why it failed if it did.

    Raises:
        RuntimeError: the script took too long.
    """
    command = [str(python), str(HERE / peer.script), f"--seconds={what.seconds}"]
    only = peer.connect_four if what.on_gpu else what.only
    command += [f"--repeats={what.repeats}", f"--only={only}"]
    environment = {**os.environ, "JAX_PLATFORMS": what.device}
    try:
        # in that folder, because PufferLib leaves a link behind wherever it runs
        done = run_child(command, TIME_LIMIT_S, environment, folder=python.parents[1])
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{peer.script} took more than {TIME_LIMIT_S:.0f} s") from None
    rows: list[Row] = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"]
    if not done.returncode:
        return rows, ""
    said = done.stderr.strip()[-400:]
    return rows, f"{peer.script} ended with {how_ended(done.returncode)}: {said}"


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
            full["ours_includes"] = INCLUDES.get(row["beside"], ON_GPU)
            full["ours_range"] = sorted((before[row["beside"]], after[row["beside"]]))
            full["ratio"] = float(f"{beside / row['value']:.4g}")
            if "CartPole-v1" in mean:
                full["cartpole"] = round(mean["CartPole-v1"], 1)
        paired.append(full)
    return paired


def _same_game(
    peer: Peer, rows: Iterable[Row], before: Figures, after: Figures, game: Game
) -> list[Row]:
    """The rows of a peer's Connect Four, each with ours of the same game beside it."""
    same = [row for row in rows if row["game"] == peer.connect_four and "value" in row]
    paired = pair_up(peer, same, before, after, game)
    return [{**row, "key": f"{row['key']}/same", "kind": SAME} for row in paired]


def render(header: Row, rows: list[Row]) -> str:
    """The comparison as Markdown: the best configuration of each kind for each peer's game."""
    parts = [brief(header, rows).rstrip()]
    if same := [row for row in rows if row["kind"] == SAME]:
        parts.append(f"One unit is:\n\n{_counted(same)}")
    game = next((row["ours_game"] for row in rows if "ours_game" in row), "")
    if others := [row for row in rows if row["kind"] == "peer" and "value" in row]:
        parts.append(f"## Every peer\n\nOurs is {game}.\n\n{_table(others)}")
    if missing := [(row["key"], row["error"]) for row in rows if "error" in row]:
        parts.append("## Not measured\n\n" + markdown(("what", "why"), missing))
    return "\n\n".join(parts) + "\n"


def brief(header: Row, rows: list[Row]) -> str:
    """The comparison for a page: of the game that peers and we have, which is the fair one."""
    parts = [f"# Peers\n\n{machine_line(header)}"]
    if same := [row for row in rows if row["kind"] == SAME]:
        title = "Connect Four against Connect Four"
        if "gpu" in header["machine"]:
            title += " on a GPU"
        parts.append(f"## {title}\n\n{SAME_GAME}\n\n{_table(same)}")
    return "\n\n".join(parts) + "\n"


def _counted(rows: list[Row]) -> str:
    """What the rows say that their steps include, and ours; old rows do not say the latter."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        parts = row["peer"], _without_size(row["config"])
        lines.setdefault(row["includes"], []).append(", ".join(filter(None, parts)))
        if "ours_includes" in row:
            lines.setdefault(row["ours_includes"], []).append(f"our `{row['beside']}`")
    return "\n".join(
        f"- **{'; '.join(dict.fromkeys(names))}:** {includes}" for includes, names in lines.items()
    )


def _without_size(config: str) -> str:
    """A configuration without its batch size."""
    return re.sub(r"(, )?\bbatch \d+$", "", config)


def _table(rows: list[Row]) -> str:
    best: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        # only the best batch size counts; other configurations are not comparable
        key = (row["peer"], row["game"], _without_size(row["config"]))
        best[key] = max(best.get(key, row), row, key=lambda each: each["value"])
    lines = [
        (
            row["peer"], row["game"], row["config"], rate(row["value"]), row["beside"],
            rate(row["ours"]), f"**{ratio(row['ratio'], 1.0)}**",
        )
        for row in best.values()
    ]  # fmt: skip
    headings = (
        "peer", "game", "best configuration", "steps/s", "compared with our", "ours, steps/s",
        "ours / peer",
    )  # fmt: skip
    return markdown(headings, lines)
