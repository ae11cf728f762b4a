"""`azumaya bench`: measure, and write rows, a report and pictures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

from azumaya.baselines.system.signals import (
    INTERRUPTED,
    REFUSED,
    end_on_signals,
    leave_on_interrupt,
)

if __name__ == "__main__":
    leave_on_interrupt()  # before what takes long to import

from azumaya.envs.extras import MissingExtraError, require

try:
    require("typer", extra="cli")
    require("rich", extra="cli")
except MissingExtraError as missing:
    if __name__ != "__main__":
        raise
    print(f"azumaya bench: {missing}", file=sys.stderr)
    raise SystemExit(REFUSED) from None

import typer

from azumaya.baselines.cli.terminal import complaints, guarded
from azumaya.baselines.cli.terminal import console as new_console
from azumaya.baselines.system.command_line import copyable
from azumaya.baselines.system.commands import Commands, formerly, time_option
from azumaya.baselines.system.files import reason, shown, write_whole
from azumaya.benchmarks import device, machine, report
from azumaya.benchmarks.peers import catalogue, compare, environments
from azumaya.benchmarks.plan import BUDGETS, Budget
from azumaya.benchmarks.results import ResultsError, Row, read_run
from azumaya.benchmarks.run import run
from azumaya.envs.adapters.devices import DEVICES
from azumaya.envs.errors import DeviceError, OptionError, did_you_mean
from azumaya.envs.registry import GAMES, find_game

app = Commands(
    name="azumaya bench",
    help="Measure how fast the games run on this machine, beside references measured in the same "
    "run.",
    add_completion=False,
    pretty_exceptions_show_locals=False,
)
console = new_console()
NO_GPU = 3
"""The exit code where there is no GPU to measure."""

Output = Annotated[
    Path | None,
    typer.Option(
        help="The folder for the results, the report and the pictures. A run that was stopped is "
        "continued there. Default: a folder of benchmarks/results named after the date and the "
        "machine."
    ),
]
Game = Annotated[
    list[str] | None, typer.Option(help="Measure only this game. Repeat for more games.")
]


@app.callback(invoke_without_command=True)
def bench(
    context: typer.Context,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Measure less, in under two minutes; the first run compiles for two more.",
        ),
    ] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="Measure all batch sizes up to 2^20 games, in about an hour."),
    ] = False,
    game: Game = None,
    output: Output = None,
    on: Annotated[
        str, typer.Option("--device", help="Where to run the games: cpu, or cuda for a GPU.")
    ] = "cpu",
) -> None:
    """Measure every game, in about ten minutes."""
    if context.invoked_subcommand is not None:
        _refuse_lost_options(context)
        return
    if quick and full:
        raise typer.BadParameter("--quick and --full exclude each other")
    _check_device(on)
    name = "quick" if quick else "full" if full else "default"
    with complaints((OptionError, ResultsError)):
        chosen = [find_game(name) for name in game or GAMES]
        if on == "cuda":
            folder, finished = _on_gpu(device.BUDGETS[f"cuda {name}"], chosen, output)
        else:
            folder = output or Path("benchmarks/results") / machine.short_name()
            finished = run(BUDGETS[name], chosen, folder, console)
        write_report(folder)
    if not finished:
        _end_interrupted(context, folder)


def _check_device(on: str) -> None:
    if on not in DEVICES:
        known = ", ".join(DEVICES)
        raise typer.BadParameter(
            f"--device {on}: must be one of {known}{did_you_mean(on, DEVICES)}"
        )


def _refuse_lost_options(context: typer.Context) -> None:
    """Refuse options that stand before a command, which would not see them."""
    if given := _words(context):
        raise typer.BadParameter(
            f"{' '.join(given)}: has no effect before {context.invoked_subcommand}; write it after "
            "that, if it is an option of that command"
        )


def _words(context: typer.Context) -> list[str]:
    """The options of a command that are not as by default, as words of the command line."""
    words = list[str]()
    for option in context.command.params:
        value, name = context.params.get(option.name or ""), option.opts[0]
        if value is True:
            words.append(name)
        elif value and value != option.default:
            each = value if isinstance(value, list | tuple) else [value]
            unit = "s" if name == "--time" else ""
            words += (word for v in each for word in (name, f"{v}{unit}"))
    return words


def _end_interrupted(context: typer.Context, folder: Path) -> NoReturn:
    """Tell how a run is continued, and end; the name of the default folder changes every day."""
    words = _words(context)
    words += [] if "--output" in words else ["--output", str(folder)]
    command = copyable([*context.command_path.split(), *words])
    console.print(f"stopped; this continues from here: {command}", soft_wrap=True)
    raise typer.Exit(INTERRUPTED)


def _on_gpu(budget: Budget, chosen: list[Any], output: Path | None) -> tuple[Path, bool]:
    """Measure a GPU, or end with `NO_GPU` where there is none that can be used."""
    about = _gpu()
    folder = output or Path("benchmarks/results") / machine.short_name(about["gpu"])
    return folder, run(budget, chosen, folder, console, device.jobs, about)


def _gpu() -> dict[str, Any]:
    """What there is to say of the GPU; ends with `NO_GPU` where there is none."""
    try:
        return device.about()
    except (DeviceError, MissingExtraError) as error:
        console.print(f"nothing was measured: {error}")
        raise typer.Exit(NO_GPU) from None


@app.command("report")
def report_again(
    folder: Annotated[Path, typer.Argument(help="The folder with the results of a run.")],
    into: Annotated[
        Path | None,
        typer.Option(help="Also put a short report into this page, in place of the one there."),
    ] = None,
) -> None:
    """Write the report and the pictures of an earlier run again."""
    with complaints(ResultsError):
        write_report(folder, into)


@app.command(cls=formerly({"--seconds": "--time"}, {"--seconds": "s"}))
def peers(
    context: typer.Context,
    peer: Annotated[
        list[str] | None, typer.Option(help="Measure only this library. Repeat for more.")
    ] = None,
    only: Annotated[
        str, typer.Option(help="Measure only their games named like one of these words: go,hex")
    ] = "",
    game: Annotated[str, typer.Option(help="Our game in the comparison.")] = next(iter(GAMES)),
    time: Annotated[
        float, time_option("The time of each measurement.", "s", 0.5, least=0.01, most=3600)
    ] = 0.5,
    repeats: Annotated[int, typer.Option(min=1, max=1000, help="Measurements of each game.")] = 3,
    place: Annotated[
        Path | None,
        typer.Option(
            help="The folder for their virtual environments. Default: in the user's cache."
        ),
    ] = None,
    python: Annotated[
        Path | None,
        typer.Option(help="A Python in which they are installed, instead of environments."),
    ] = None,
    on: Annotated[
        str,
        typer.Option(
            "--device", help="cpu; or cuda: Connect Four beside Connect Four, by number of games."
        ),
    ] = "cpu",
    output: Output = None,
) -> None:
    """Install other libraries, each in an environment of its own, and measure them beside ours."""
    _check_device(on)
    known = {each.name: each for each in catalogue.PEERS if on == "cpu" or each.cuda}
    unknown = set(peer or ()) - known.keys()
    if unknown:
        hint = did_you_mean(next(iter(unknown)), known)
        raise typer.BadParameter(
            f"--peer {', '.join(unknown)}: must be one of {', '.join(known)}{hint}"
        )
    if place is not None:
        _check_place(place)
    gpu = _gpu()["gpu"] if on == "cuda" else None
    folder = output or Path("benchmarks/results") / f"{machine.short_name(gpu)}-peers"
    with complaints((OptionError, ResultsError)):
        what = compare.Comparison(
            find_game(game), place or environments.default_place(), time, repeats, only, on, python
        )
        finished = compare.compare(what, [known[n] for n in peer or known], folder, console)
        write_report(folder)
    if not finished:
        _end_interrupted(context, folder)


def _check_place(place: Path) -> None:
    try:
        file = place.exists() and not place.is_dir()
    except OSError as error:
        raise typer.BadParameter(f"--place {shown(place)}: {error.strerror}") from None
    if file:
        raise typer.BadParameter(f"--place {place}: this is a file; name a folder")


def write_report(folder: Path, into: Path | None = None) -> None:
    """Write `report.md` and the pictures beside the rows, and a short report into a page if given.

    Raises:
        ResultsError: there are no rows or the page has no place for the report, and nothing was
            written; or a file cannot be written.
    """
    header, rows = read_run(folder)
    settings = str(header["settings"])
    of_peers = settings.startswith(compare.SETTINGS)
    on_gpu = "gpu" in header["machine"]
    command = (report.PEERS if of_peers else report.BENCH) + (report.ON_GPU if on_gpu else "")
    page = None if into is None else _page(into, command)
    try:
        if of_peers:
            text, short = compare.render(header, rows), compare.brief(header, rows)
        else:
            pictures = _pictures(header, rows, folder)
            text, short = (make(header, rows, pictures) for make in (report.render, report.brief))
        write_whole(folder / "report.md", text.encode())
        console.print(f"{folder / 'report.md'}: {len(rows)} rows")
        if into is not None and page is not None:
            write_whole(into, report.put_into(page, short, command).encode())
            if not of_peers:
                _pictures(header, rows, into.parent)
    except OSError as error:
        raise ResultsError(f"the report could not be written: {reason(error)}") from error


def _page(into: Path, command: str) -> str:
    """The text of the page, after checking that the report can be put into it."""
    try:
        if into.exists() and not into.is_file() and not into.is_dir():
            raise ResultsError(f"--into {into}: not a regular file; name a page")
        with into.open("r+", encoding="utf-8") as file:  # `+`: is it writable?
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


def main() -> None:
    """Run the command line; children end with it, and system errors are reported in one line."""
    end_on_signals()
    guarded("azumaya", lambda: app(prog_name="azumaya bench"))


if __name__ == "__main__":
    main()
