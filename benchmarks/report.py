"""The report of a run in Markdown: the whole of it, and a short one for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from azumaya.benchmarks import tables
from azumaya.benchmarks.results import Row
from azumaya.benchmarks.tables import Table

BENCH, PEERS, ON_GPU = "azumaya bench", "azumaya bench peers", " --device cuda"
"""The commands whose reports a page can contain, and what a command ends with on a GPU."""
Places = Literal["report", "page", "both"]


class Part(NamedTuple):
    """A section of a report: its title, how its figures are to be read, and what writes it.

    `places` says where it stands: in the whole report, in the short one for a page, or in both.
    """

    title: str
    note: str
    write: Callable[[Table], str]
    places: Places = "both"


def render(header: Row, rows: Sequence[Row], pictures: Sequence[str] = ()) -> str:
    """The whole report of a run: ratios first, and with each table how it is to be read."""
    text = _sections(header, rows, "report", pictures)
    return f"# Speed\n\n{text}\n"


def brief(header: Row, rows: Sequence[Row], pictures: Sequence[str] = ()) -> str:
    """The tables for a page that has defined its terms: ratios, and the rates behind them."""
    text = _sections(header, rows, "page", pictures)
    return f"# Speed\n\n{machine_line(header)}\n\n{text}\n"


def _sections(header: Row, rows: Sequence[Row], place: Places, pictures: Sequence[str]) -> str:
    table, texts = Table(header, rows), [f"![{name}]({name})" for name in pictures]
    for part in PARTS:
        if part.places in (place, "both") and (text := part.write(table)):
            notes = [part.note] if part.note and place == "report" else []
            texts.append("\n\n".join((f"## {part.title}", *notes, text)))
    return "\n\n".join(texts)


def machine_line(header: Row) -> str:
    """The machine of a run in one sentence."""
    return ", ".join(f"{name} {value}" for name, value in header["machine"].items()) + "."


PARTS = (
    Part(
        "Ratios",
        "To CartPole-v1 and connect_four_v3 of the same run. Bare: random play with resets in "
        "compiled code. Planes, packed: `step` of the vector environment with masks and autoreset, "
        "zero-copy, at the fastest batch size, without the choice of actions (`loop_value` in "
        "`rows.jsonl` includes it). Of memset: the share of the rate at which `memset` fills the "
        "same buffers. raw_env, env: AEC environments.",
        tables.ratios_table,
    ),
    Part(
        "Rates",
        "Plies and steps per second on one core. Each figure is the median of several repeats "
        "(`rows.jsonl` has the lowest and highest) and does not include compilation.",
        tables.rates_table,
    ),
    Part(
        "Steps on a GPU",
        "A step is `step` of the vector environment with masks and autoreset, without copies. The "
        "choice of random actions is not included (`loop_value` in the rows includes it). Of "
        "memset: the share of the rate at which torch fills the same buffers with zeros, with the "
        "largest batch. Bare: random plies in one kernel, also with the largest batch.",
        tables.device_table,
    ),
    Part(
        "Machine",
        "A load above the number of cores means that other programs used the machine as well: "
        "caches and clock rate are shared even where CPU time is not.",
        tables.machine_table,
        "report",
    ),
    Part("References", "", tables.references_table, "report"),
    Part("Batch sizes", "", tables.sizes_table, "report"),
    Part(
        "Two threads, copies",
        "Compared with one thread and zero-copy buffers. By the wall clock two threads are faster "
        "only if they get two cores. Cores used is CPU time divided by wall time; the system "
        "counts the CPU time of other threads only in ticks. The last column shows what "
        "coordination costs (1 means nothing).",
        tables.threads_table,
        "report",
    ),
    Part(
        "Search",
        "From the start of a game, on one core: simulations a second of UCT with random rollouts, "
        "to the end or cut off after some plies; of PUCT, which evaluates every move of a position "
        "in each; and positions a second of alpha-beta.",
        tables.search_table,
        "report",
    ),
    Part(
        "Learning",
        "Steps learned from per second with one thread: games, search if there is one, updates and "
        "logs. Torch passes: forward and backward passes of the same network in plain torch, the "
        "limit of a script that uses torch; `value` is compiled and may exceed it. Plays: a digest "
        "of the agent's moves after one update; another processor or version of torch may give "
        "another one.",
        tables.learning_table,
        "report",
    ),
    Part(
        "Networks",
        "Positions evaluated per second, with one call from Python for each batch: `value` from "
        "states by the compiled network, the others from observations by torch. Torch passes: as "
        "above.",
        tables.networks_table,
        "report",
    ),
    Part(
        "Self-play with search",
        "Moves of self-play per second, many games at once; the networks are untrained.",
        tables.self_play_table,
        "report",
    ),
    Part("Matches", "", tables.matches_table, "report"),
    Part(
        "Memory",
        "Bytes that one more game takes in a vector environment: for its state, and in total.",
        tables.memory_table,
        "report",
    ),
    Part(
        "Start-up",
        "Seconds of CPU time in a fresh process; cold means with an empty compile cache.",
        tables.start_table,
        "report",
    ),
    Part("Not measured", "", tables.missing_table),
)
"""The sections of a report, in order."""


def marks(name: str) -> tuple[str, str]:
    """The two lines of a page between which a report is written; a command's has its name."""
    return f"<!-- begin: {name} -->", f"<!-- end: {name} -->"


def put_between(page: str, text: str, name: str) -> str:
    """A page with a text between the two lines of `marks`, in place of the one there.

    Raises:
        ValueError: the page does not have these lines.
    """
    begin, end = marks(name)
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page needs one line {begin} and one line {end}")
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}"


def put_into(page: str, report: str, command: str) -> str:
    """A page with a command's report inserted, without its title and with headings a level lower.

    Raises:
        ValueError: as `put_between`.
    """
    return put_between(page, report.split("\n", 1)[1].replace("\n## ", "\n### "), command)
