"""Make random mutants of the library, and see which of them the suite catches.

    python -m tests.mutants [--seed N] [--count N] [--only TEXT] [--jobs N] [--work FOLDER] [--list]

A mutant is a copy of the library with one small edit in one function (`edits.py`). From each part
of the library the seed draws equally many. For each mutant the tests that concern its function run
until one fails (`trials.py`). Results are appended to `results.jsonl` in the work folder, a JSON
object a line. A command that was interrupted goes on where it was: a mutant that was caught is not
tried again, and one that survived only after the sources or the tests have changed.
`equivalent.json` names the mutants that were judged by hand to change no behaviour, with the
reason; these do not count.

Ends with the share of the others that is caught, with a 95 % interval, and with status 1 if it is
below what is asked for, 2 if the tests fail without any mutant, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from threading import Lock

from azumaya.baselines.arena.intervals import wilson
from tests.library import ROOT
from tests.mutants.edits import Mutant, mutants_of
from tests.mutants.trials import Trials, UncleanError

EQUIVALENT = Path(__file__).with_name("equivalent.json")
WANTED_SHARE = 0.97
UNCLEAN, INTERRUPTED = 2, 130

PARTS = (
    "envs/games", "envs/kernels", "envs", "wrappers", "baselines/search", "baselines/values",
    "baselines/arena/league", "baselines/arena", "baselines/training", "baselines/classroom",
    "baselines/agents", "baselines/text", "baselines/play", "baselines", "benchmarks/studies",
)  # fmt: skip
"""Parts of the library, each with as many mutants; a file belongs to the first that fits."""
LEFT_OUT = (
    "envs/adapters/cuda/", "envs/kernels/cache",
    "baselines/course", "baselines/integrations",
)  # fmt: skip
"""A GPU tests its own code, the compile cache tests that kill it, the course its notebooks."""


def part_of(file: str) -> str:
    """The part that a file belongs to."""
    return next((part for part in PARTS if file.startswith(f"{part}/")), "")


def chosen(seed: int, count: int, only: str) -> list[Mutant]:
    """As many mutants of each part, from the files whose path holds a text.

    A seed orders all mutants by a digest of their keys and takes the first, so that a change of the
    library exchanges only the mutants of functions that it changes.
    """
    names = (file.relative_to(ROOT).as_posix() for part in ("envs", "wrappers", "baselines")
             for file in sorted((ROOT / part).rglob("*.py")))  # fmt: skip
    files = [name for name in names if only in name and not name.startswith(LEFT_OUT)]
    by_part: dict[str, list[Mutant]] = {part: [] for part in PARTS}
    for name in files:
        by_part[part_of(name)] += mutants_of(ROOT / name)

    def order(mutant: Mutant) -> bytes:
        return hashlib.blake2b(f"{seed} {mutant.key}".encode()).digest()

    return [mutant for every in by_part.values() for mutant in sorted(every, key=order)[:count]]


def run(
    mutants: list[Mutant],
    catches: Callable[[Mutant], str],
    version: str,
    output: Path,
    jobs: int = 1,
) -> list[Mutant]:
    """Try the mutants that have not been tried; returns those that survive and are not excused.

    Args:
        mutants: which.
        catches: names the test that catches one, or returns an empty text.
        version: of the sources.
        output: the file of results.
        jobs: how many are tried at a time.
    """
    known = {**dict.fromkeys(excused(), "excused"), **known_results(output, version)}
    waiting = [mutant for mutant in mutants if mutant.key not in known]
    print(f"{len(mutants) - len(waiting)} of {len(mutants)} mutants are known or excused")
    with ThreadPoolExecutor(jobs) as pool:
        trials = {pool.submit(catches, mutant): mutant for mutant in waiting}
        try:
            for number, trial in enumerate(as_completed(trials), start=1):
                mutant, caught = trials[trial], trial.result()
                known[mutant.key] = caught
                _append(output, {"caught": caught, "version": version, **asdict(mutant)})
                print(f"{number}/{len(waiting)}: {mutant} | {caught or 'NOTHING'}", flush=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [mutant for mutant in mutants if not known[mutant.key]]


def excused() -> dict[str, str]:
    """By their keys the mutants that change no behaviour, with the reason."""
    reasons: dict[str, str] = json.loads(EQUIVALENT.read_text())
    return reasons


def known_results(output: Path, version: str) -> dict[str, str]:
    """By the mutants' keys what caught each, so far as that holds for a version of the sources."""
    known = {}
    for line in output.read_text().splitlines() if output.exists() else ():
        try:
            row = json.loads(line)
        except ValueError:  # the command was killed while it wrote
            continue
        if row["caught"] or row["version"] == version:
            known[row["key"]] = row["caught"]
    return known


_writing = Lock()


def _append(output: Path, row: dict[str, object]) -> None:
    with _writing, output.open("a+b") as out:
        out.seek(max(out.tell() - 1, 0))
        torn = out.read(1) not in (b"", b"\n")
        out.write(b"\n" * torn + json.dumps(row).encode() + b"\n")


def main(words: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20, help="mutants of each part")
    parser.add_argument("--only", default="", help="only files whose path holds this text")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at a time")
    parser.add_argument("--work", type=Path, default=ROOT / "runs/mutants", help="where results go")
    parser.add_argument("--list", action="store_true", help="name the mutants and run nothing")
    args = parser.parse_args(words)
    mutants = chosen(args.seed, args.count, args.only)
    if not mutants:
        parser.error(f"--only {args.only}: no file with mutants has this in its path")
    if args.list:
        print(*mutants, sep="\n")
        return 0
    try:
        trials, output = Trials(args.work), args.work / "results.jsonl"
        survivors = run(mutants, trials.catches, trials.version, output, args.jobs)
    except UncleanError as error:
        print(error, file=sys.stderr)
        return UNCLEAN
    except KeyboardInterrupt:
        print(f"stopped; the same command resumes (results in {args.work})", file=sys.stderr)
        return INTERRUPTED
    return report(mutants, survivors)


def report(mutants: list[Mutant], survivors: list[Mutant]) -> int:
    """Print what survived and the shares that were caught; returns the exit code."""
    counted = [mutant for mutant in mutants if mutant.key not in excused()]
    for mutant in survivors:
        print(f"survived: {mutant}")
    for part in (*PARTS, ""):
        of_part = [mutant for mutant in counted if part in ("", part_of(mutant.file))]
        if of_part:
            left = sum(part in ("", part_of(mutant.file)) for mutant in survivors)
            share = 1 - left / len(of_part)
            low, high = wilson(share, len(of_part))
            print(
                f"{part or 'all':24} {len(of_part) - left:4} of {len(of_part):4} are caught: "
                f"{share:.1%} ({low:.1%} to {high:.1%})"
            )
    print(f"{len(mutants) - len(counted)} more change no behaviour")
    return 0 if len(survivors) <= (1 - WANTED_SHARE) * len(counted) else 1


if __name__ == "__main__":
    sys.exit(main())
