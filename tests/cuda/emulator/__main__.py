"""Plays games on the emulator and on the CPU, and prints the instruction counts of each kernel.

python -m tests.cuda.emulator [GAME ...] [--games 512] [--steps 100] [--form planes] [--lto]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from tests.cases import TESTED
from tests.cuda.compare import FORMS, MODES, Pair, equal_states
from tests.cuda.emulator.build import can_link, missing
from tests.cuda.emulator.device import Emulator, Figures

COLUMNS = {
    "local ld": "ld.local", "local st": "st.local", "global ld": "ld.global",
    "global st": "st.global", "const ld": "ld.const", "atomic": "atom.global",
}  # fmt: skip
ROW = "{:14}{:>8}{:>10}{:>10}" + "{:>11}" * len(COLUMNS) + "{:>7}"


def play(name: str, arguments: argparse.Namespace) -> dict[str, Figures]:
    """Play random games in steps and in a rollout; they must be equal to those on the CPU."""
    emulator = Emulator(lto=arguments.lto)
    with emulator.installed():
        pair = Pair(TESTED[name], arguments.games, arguments.form, arguments.mode)
        pair.play(arguments.steps, seed=arguments.seed)
        assert pair.host.rollout(arguments.steps) == pair.device.rollout(arguments.steps)
        equal_states(pair.host, pair.device)
    return emulator.figures


def table(figures: Mapping[str, Figures]) -> str:
    """A table: instructions per thread and per warp, accesses per warp, bytes of stack."""
    rows = [ROW.format("kernel", "launches", "per thread", "per warp", *COLUMNS, "stack")]
    for name, of in figures.items():
        accesses = (f"{of.per_warp(kind):.0f}" for kind in COLUMNS.values())
        whole = (f"{of.per_thread():.0f}", f"{of.per_warp():.0f}")
        rows.append(ROW.format(name, of.launches, *whole, *accesses, of.stack))
    return "\n".join(rows)


def parsed() -> argparse.Namespace:
    """The arguments of the command."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.cuda.emulator")
    parser.add_argument("names", nargs="*", metavar="GAME", help="without names, all games")
    parser.add_argument(
        "--games", type=int, default=512, help="at once; multiples of 128 fill blocks"
    )
    parser.add_argument("--steps", type=int, default=100, help="and as many plies in the rollout")
    parser.add_argument("--form", choices=FORMS, default=FORMS[0])
    parser.add_argument("--mode", choices=MODES, default=MODES[0])
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--lto", action="store_true", help="optimize at link time; needs nvJitLink")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(TESTED):
        parser.error(f"unknown games {sorted(unknown)}; there are {', '.join(TESTED)}")
    if arguments.lto and not can_link():
        parser.error("--lto: numba cannot find nvJitLink (nvidia-nvjitlink)")
    return arguments


def main() -> int:
    """Run the command; the exit status is 1 if nothing can be emulated here."""
    arguments = parsed()
    if reason := missing():
        print(reason)
        return 1
    for name in arguments.names or TESTED:
        figures = play(name, arguments)
        print(f"\n{name}: equal to the CPU; PTX instructions\n{table(figures)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
