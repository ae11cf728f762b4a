"""`azumaya doctor`: versions, compile cache, GPU, and a check that the games run correctly."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import random
import re
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from numba.core.registry import cpu_target
from rich.table import Table

from azumaya.baselines.cli.contract import check_batch, check_state, check_text, play_checked
from azumaya.baselines.cli.terminal import console
from azumaya.baselines.system.machine import cpu_model, installed, version
from azumaya.baselines.system.signals import FAILED
from azumaya.envs import GAMES, make_vec
from azumaya.envs.engine.workers import available_cores
from azumaya.envs.extras import how_to_install
from azumaya.envs.game import Game
from azumaya.envs.kernels.cache import open_store
from azumaya.envs.kernels.compile import INTERPRETED

CHECK_SEED = 1
OK, NOTE, WRONG = "ok", "note", "wrong"
"""States of a finding: all is well; something optional is missing; something must be fixed."""
MARKS = {OK: "✓", NOTE: "·", WRONG: "✗"}
STYLES = {OK: "green", NOTE: "dim", WRONG: "bold red"}


def doctor(
    every_game: Annotated[
        bool, typer.Option("--all", help="Check all games instead of one of each kind.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show versions, compile cache and GPU, and check that the games run correctly.

    The first run compiles one game of each kind, which takes a few seconds per game.
    """
    screen = console(stderr=True)
    with screen.status("examining", spinner="dots"):
        findings = list(examine(every_game))
    wrong = [finding for finding in findings if finding.state == WRONG]
    if as_json:
        listed = [asdict(finding) for finding in findings]
        typer.echo(json.dumps({"ok": not wrong, "findings": listed}))
    else:
        console().print(_table(findings))
        typer.echo("everything needed works" if not wrong else f"problems found: {len(wrong)}")
    if wrong:
        raise typer.Exit(FAILED)


def _table(findings: list[Finding]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    for _ in range(2):
        table.add_column(overflow="fold")
    topic = ""
    for finding in findings:
        if finding.topic != topic:
            topic = finding.topic
            table.add_row("", topic, "", style="bold")
        table.add_row(
            MARKS[finding.state], f"  {finding.name}", finding.value, style=STYLES[finding.state]
        )
    return table


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
        topic: the group it belongs to.
        name: what was looked at.
        value: what was found.
        state: `ok`, `note` or `wrong`.
    """

    topic: str
    name: str
    value: str
    state: str = OK


def machine() -> Iterator[Finding]:
    """System, Python, cores and processor."""
    yield Finding("machine", "system", f"{platform.system()} {platform.machine()}")
    yield Finding("machine", "python", f"{platform.python_version()} at {sys.executable}")
    yield Finding("machine", "cores", f"{available_cores()}, {cpu_model()}")


def packages() -> Iterator[Finding]:
    """The versions of what is installed; what optional packages are missing, by extra."""
    yield Finding("packages", "azumaya", version())
    required, extras = _requirements()
    for name in required:
        found = installed(name)
        yield Finding("packages", name, found or "missing", OK if found else WRONG)
    for extra, names in extras.items():
        missing = [name for name in names if installed(name) is None]
        if missing:
            value = f"missing: {', '.join(missing)}; {how_to_install(extra)}"
            yield Finding("extras", extra, value, NOTE)
        elif extra == "cuda" and (torch := str(installed("torch"))).endswith("+cpu"):
            value = f"torch {torch} was built without CUDA; {how_to_install(extra)}"
            yield Finding("extras", extra, value, NOTE)
        else:
            yield Finding("extras", extra, ", ".join(f"{n} {installed(n)}" for n in names))


def _requirements() -> tuple[list[str], dict[str, list[str]]]:
    """The packages that the library needs, and those of each extra meant for users."""
    try:
        lines = importlib.metadata.requires("azumaya") or []
    except importlib.metadata.PackageNotFoundError:
        lines = []
    required: list[str] = []
    extras: dict[str, list[str]] = {}
    for line in lines:
        name = re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0]
        extra = re.search(r"""extra\s*==\s*["']([\w-]+)["']""", line)
        if extra is None:
            if name not in required:  # numba has a second bound for newer versions of Python
                required.append(name)
        elif extra[1] not in ("dev", "docs") and name not in ("azumaya", *required):
            extras.setdefault(extra[1], []).append(name)
    return required, extras


def compile_cache() -> Finding:
    """Where compiled kernels are kept, and how much there is."""
    if INTERPRETED:
        return Finding("kernels", "compiler", "off (NUMBA_DISABLE_JIT): games are slow", WRONG)
    if os.environ.get("AZUMAYA_CACHE_DIR") == "":
        return Finding("kernels", "cache", "off (AZUMAYA_CACHE_DIR is empty)", NOTE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        store = open_store.__wrapped__(cpu_target.target_context.codegen().magic_tuple())
    if store is None:
        reason = str(caught[0].message) if caught else "no folder can be used"
        return Finding("kernels", "cache", reason, WRONG)
    files = [file for file in store.path.iterdir() if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    return Finding(
        "kernels", "cache", f"{store.path}: {len(files)} kernels, {size / 2**20:.1f} MiB"
    )


def gpu() -> Finding:
    """Whether `make_vec(device="cuda")` can be used."""
    try:
        make_vec(next(iter(GAMES)), 1, device="cuda").close()
    except Exception as error:  # a broken torch may raise anything, such as OSError
        return Finding("gpu", "cuda", _told(error), NOTE)
    return Finding("gpu", "cuda", "usable")


def _told(error: Exception) -> str:
    """The type of an error and the first line of its message, which may be empty."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def one_of_each_kind() -> list[Game]:
    """The first game of each family."""
    kinds: dict[str, Game] = {}
    for game in GAMES.values():
        family = game.words.move_name.__module__.rpartition(".")[0]
        kinds.setdefault(family, game)
    return list(kinds.values())


def check_games(games: Sequence[Game]) -> Iterator[Finding]:
    """Play games of each, alone and in a batch, and compare every position."""
    for game in games:
        begin, rng = time.perf_counter(), random.Random(CHECK_SEED)
        try:
            play_checked(game, {}, rng, (check_state, check_text))
            check_batch(game, {}, rng)
        except Exception as error:
            yield Finding("games", game.name, _told(error), WRONG)
            continue
        seconds = time.perf_counter() - begin
        yield Finding("games", game.name, f"alone and in a batch, {seconds:.1f} s")


def examine(every_game: bool = False) -> Iterator[Finding]:
    """Yield all findings, each as soon as it is known.

    Args:
        every_game: whether to check all games instead of one of each family.
    """
    yield from machine()
    yield from packages()
    yield compile_cache()
    yield gpu()
    yield from check_games(list(GAMES.values()) if every_game else one_of_each_kind())
