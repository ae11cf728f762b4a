"""`azumaya bench`: measure, and write rows, a report and pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from azumaya.envs.extras import MissingExtraError, require

try:
    require("typer", extra="cli")
    require("rich", extra="cli")
except MissingExtraError as missing:
    if __name__ != "__main__":
        raise
    print(f"azumaya bench: {missing}", file=sys.stderr)
    raise SystemExit(2) from None

import typer
from rich.console import Console

from azumaya.benchmarks import device, machine, report
from azumaya.benchmarks.peers import catalogue, compare, environments
from azumaya.benchmarks.plan import BUDGETS, Budget
from azumaya.benchmarks.results import ResultsError, Row, read_run, said_by
from azumaya.benchmarks.run import run
from azumaya.envs.adapters.devices import DEVICES
from azumaya.envs.errors import DeviceError, OptionError
from azumaya.envs.registry import GAMES, find_game

app = typer.Typer(
    name="azumaya bench",
    help="How fast everything is, on this machine, beside references measured in the same run.",
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
console = Console()
INTERRUPTED, NO_GPU = 130, 3
"""Exit codes."""

Output = Annotated[
    Path | None,
    typer.Option(help="Where the rows, report and pictures go; rows there are gone on from."),
]
Game = Annotated[list[str] | None, typer.Option(help="A game; may be given several times.")]


@app.callback(invoke_without_command=True)
def bench(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="Under two minutes.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="All batch sizes, to 2^20 games; an hour or so.")
    ] = False,
    game: Game = None,
    output: Output = None,
    on: Annotated[str, typer.Option("--device", help="cpu, or cuda: on a GPU.")] = "cpu",
) -> None:
    """Measure every game (about six minutes)."""
    if context.invoked_subcommand is not None:
        return
    if quick and full:
        raise typer.BadParameter("--quick and --full exclude each other")
    if on not in DEVICES:
        raise typer.BadParameter(f"--device {on}: must be one of {', '.join(DEVICES)}")
    name = "quick" if quick else "full" if full else "default"
    try:
        chosen = [find_game(name) for name in game or GAMES]
        if on == "cuda":
            folder, finished = _on_gpu(device.BUDGETS[f"cuda {name}"], chosen, output)
        else:
            folder = output or Path("benchmarks/results") / machine.short_name()
            finished = run(BUDGETS[name], chosen, folder, console)
        write_report(folder)
    except (OptionError, ResultsError) as error:
        raise typer.BadParameter(str(error)) from None
    if not finished:
        raise typer.Exit(INTERRUPTED)


def _on_gpu(budget: Budget, chosen: list[Any], output: Path | None) -> tuple[Path, bool]:
    """Measure a GPU, or end with `NO_GPU` where there is none that can be used."""
    try:
        about = device.about()
    except (DeviceError, MissingExtraError) as error:
        console.print(f"nothing was measured: {error}", markup=False)
        raise typer.Exit(NO_GPU) from None
    folder = output or Path("benchmarks/results") / machine.short_name(about["gpu"])
    return folder, run(budget, chosen, folder, console, device.jobs, about)


@app.command("report")
def report_again(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")],
    into: Annotated[
        Path | None, typer.Option(help="A page whose generated part is replaced by the report.")
    ] = None,
) -> None:
    """Write the report and pictures of a run once more."""
    try:
        write_report(folder, into)
    except ResultsError as error:
        raise typer.BadParameter(str(error)) from None


@app.command()
def peers(
    peer: Annotated[list[str] | None, typer.Option(help="A peer; all of them if none.")] = None,
    only: Annotated[str, typer.Option(help="Only games of theirs with such names: go,hex")] = "",
    game: Annotated[str, typer.Option(help="Ours.")] = next(iter(GAMES)),
    seconds: Annotated[float, typer.Option(min=0.01, help="Of each repeat.")] = 0.5,
    repeats: Annotated[int, typer.Option(min=1)] = 3,
    place: Annotated[
        Path | None, typer.Option(help="Where their environments lie; in the cache if not given.")
    ] = None,
    output: Output = None,
) -> None:
    """Install other libraries, each in an environment of its own, and measure them beside ours."""
    known = {each.name: each for each in catalogue.PEERS}
    unknown = set(peer or ()) - known.keys()
    if unknown:
        raise typer.BadParameter(f"--peer {', '.join(unknown)}: there are {', '.join(known)}")
    if place is not None and place.exists() and not place.is_dir():
        raise typer.BadParameter(f"--place {place}: this is a file; name a folder")
    folder = output or Path("benchmarks/results") / f"{machine.short_name()}-peers"
    try:
        what = compare.Comparison(
            find_game(game), place or environments.default_place(), seconds, repeats, only
        )
        finished = compare.compare(what, [known[n] for n in peer or known], folder, console)
        write_report(folder)
    except (OptionError, ResultsError) as error:
        raise typer.BadParameter(str(error)) from None
    if not finished:
        raise typer.Exit(INTERRUPTED)


def write_report(folder: Path, into: Path | None = None) -> None:
    """Write `report.md` and the pictures beside the rows, and into a page if one is given.

    Raises:
        ResultsError: there are no rows, the page has no place for the report, or a file cannot be
            written; of the first two nothing is written.
    """
    header, rows = read_run(folder)
    of_peers = str(header["settings"]).startswith(compare.SETTINGS)
    command = report.PEERS if of_peers else report.BENCH
    page = None if into is None else _page(into, command)
    try:
        if of_peers:
            text = compare.render(header, rows)
        else:
            text = report.render(header, rows, _pictures(header, rows, folder))
        (folder / "report.md").write_text(text, "utf-8")
        console.print(f"{folder / 'report.md'}: {len(rows)} rows")
        if into is not None and page is not None:
            into.write_text(report.put_into(page, text, command), "utf-8")
            if not of_peers:
                _pictures(header, rows, into.parent)
    except OSError as error:
        raise ResultsError(f"the report could not be written: {said_by(error)}") from error


def _page(into: Path, command: str) -> str:
    """The page that a report is to be put into, known to have a place for it."""
    try:
        with into.open("r+", encoding="utf-8") as file:  # to be written as well
            page = file.read()
        report.put_into(page, "\n", command)
    except OSError as error:
        raise ResultsError(
            f"--into {into}: {error.strerror}; name a page that can be written"
        ) from error
    except ValueError as error:
        raise ResultsError(f"--into {into}: {error}") from error
    return page


def _pictures(header: Row, rows: list[Row], folder: Path) -> list[str]:
    from azumaya.benchmarks import plots  # noqa: PLC0415 - matplotlib is optional

    try:
        return plots.draw(header, rows, folder)
    except MissingExtraError as error:
        console.print(f"no pictures: {error}")
        return []


if __name__ == "__main__":
    app(prog_name="azumaya bench")
