"""The report of a run in Markdown: tables of its rows, with the references beside each figure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from azumaya.baselines.words import markdown
from azumaya.benchmarks.results import Row

CARTPOLE, RAW_FOUR, FOUR = "CartPole-v1", "connect_four_v3 raw_env", "connect_four_v3 env"
SB3 = "maskable_ppo"
"""The training script that uses Stable-Baselines3, with which the others are compared."""
BENCH, PEERS, GPU = "azumaya bench", "azumaya bench peers", "azumaya bench --device cuda"
"""The commands whose reports a page can contain."""


class Table:
    """The rows of a run, with functions to look up figures."""

    def __init__(self, header: Row, rows: Sequence[Row]) -> None:
        self.header, self.rows = header, rows
        self.games = list(dict.fromkeys(row["game"] for row in rows if "game" in row))

    def pick(self, kind: str, **wanted: Any) -> list[Row]:
        """The rows of a kind that have a value and these fields."""
        return [
            row
            for row in self.rows
            if row["kind"] == kind
            and "value" in row
            and all(row.get(name) == value for name, value in wanted.items())
        ]

    def best(self, kind: str, **wanted: Any) -> Row | None:
        """The fastest such row."""
        return max(self.pick(kind, **wanted), key=lambda row: row["value"], default=None)

    def reference(self, name: str) -> float | None:
        """The median of a reference over the run."""
        taken = [row["value"] for row in self.pick("reference", name=name)]
        return statistics.median(taken) if taken else None

    def signatures(self, game: str) -> set[str]:
        """The signatures of a game's rows; more than one means an error."""
        return {
            row["signature"] for row in self.rows if row.get("game") == game and "signature" in row
        }


def rate(value: float | None) -> str:
    """A rate with three digits: `17.2 M`, `102 k`."""
    if value is None:
        return "–"
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def ratio(value: float | None, beside: float | None) -> str:
    """The ratio of a figure to another, with three digits, or all digits of a whole number."""
    if not value or not beside:
        return "–"
    share = value / beside
    return f"{share:,.0f}" if share >= 1000 else f"{share:.3g}"


LEAST_FILLED = 1024
"""The smallest batch for which `memset` called from Python says something of memory."""


def memset(row: Row | None) -> float | None:
    """The rate of a memset of a row's buffers; None where the row does not say.

    Rows without `limits` are of 2026-11-25 and before. Then each buffer was filled by a call from
    Python, and in small batches these calls took most of the time.
    """
    if row is None or ("limits" not in row and row["size"] < LEAST_FILLED):
        return None
    return float(row["memset"])


def render(header: Row, rows: Sequence[Row], pictures: Sequence[str] = ()) -> str:
    """The report of a run."""
    table = Table(header, rows)
    parts: list[tuple[str, Callable[[Table], str]]] = [
        ("Machine", _machine),
        ("On a GPU", _device),
        ("References", _references),
        ("One core", _one_core),
        ("Batch sizes", _sizes),
        ("Two threads, copies", _threads),
        ("AEC environments", _aec),
        ("Search", _search),
        ("Learning", _learning),
        ("Networks", _networks),
        ("Self-play with search", _self_play),
        ("Matches", _matches),
        ("Memory", _memory),
        ("Start-up", _start),
        ("Not measured", _missing),
    ]
    texts = [f"![{name}]({name})" for name in pictures]
    texts += [f"## {title}\n\n{text}" for title, write in parts if (text := write(table))]
    return "# Speed\n\n" + "\n\n".join(texts) + "\n"


def _section(note: str, headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A note, if there is one, and a table of these lines; empty without lines."""
    before = f"{note}\n\n" if note else ""
    return before + markdown(headings, lines) if lines else ""


def _machine(table: Table) -> str:
    lines = [(name, str(value)) for name, value in table.header["machine"].items()]
    loads = [row["load"] for row in table.rows if row.get("load") is not None]
    if loads:
        lines.append(("load over the run", f"{min(loads)} to {max(loads)}"))
    clock = "by the device's own clock (CUDA events)"
    if "gpu" not in table.header["machine"]:
        clock = "per second of CPU time, on one core unless stated otherwise"
    note = (
        f"Rates are {clock}. Each is the median of several repeats (`rows.jsonl` has the lowest "
        "and highest) and does not include compilation. A load above the number of cores means "
        "that other programs used the machine as well: caches and clock rate are shared even where "
        "CPU time is not."
    )
    return _section(note, ("what", "value"), [*lines, ("budget", table.header["settings"])])


def _device(table: Table) -> str:
    rows = table.pick("cuda batch")
    sizes = sorted({row["size"] for row in rows})
    bare = {row["game"]: row for row in table.pick("cuda bare")}
    parts = [
        "A step is `step` of the vector environment with masks and autoreset, without copies. The "
        "choice of random actions is not included (`loop_value` in the rows includes it). `of "
        "memset`: the share of the rate at which torch fills the same buffers with zeros, with the "
        "largest batch. `bare`: random plies in one kernel, also with the largest batch."
    ]
    for form in dict.fromkeys(row["form"] for row in rows):
        lines = []
        for game in table.games:
            mine = {r["size"]: r for r in rows if (r["game"], r["form"]) == (game, form)}
            if mine:
                last, alone = mine[max(mine)], bare.get(game, {})
                rates = [rate(mine[size]["value"] if size in mine else None) for size in sizes]
                share = ratio(last["value"], last["memset"])
                lines.append(
                    (game, rate(alone.get("value")), *rates, share, _signature(table, game))
                )
        batches = (f"{size:,} games" for size in sizes)
        headings = ("game", "bare", *batches, "of memset", "signature")
        parts.append(_section(f"Steps/s, {form}:", headings, lines))
    return "\n\n".join(parts) if rows else ""


def _signature(table: Table, game: str) -> str:
    found = sorted(table.signatures(game))
    return f"`{found[0]}`" if len(found) == 1 else "**differ:** " + ", ".join(found)


def _references(table: Table) -> str:
    lines = []
    for name in (CARTPOLE, RAW_FOUR, FOUR):
        taken = [row["value"] for row in table.pick("reference", name=name)]
        if taken:
            spread = f"{rate(min(taken))} to {rate(max(taken))}"
            lines.append((name, rate(statistics.median(taken)), spread, str(len(taken))))
    return _section("", ("reference", "steps/s", "over the run", "repeats"), lines)


def _one_core(table: Table) -> str:
    cartpole, lines = table.reference(CARTPOLE), []
    measured = {row["game"] for kind in ("bare", "batch") for row in table.pick(kind)}
    for game in (game for game in table.games if game in measured):
        bare = table.best("bare", game=game)
        plies: float | None = bare["value"] if bare else None
        cells, planes = [rate(plies), ratio(plies, cartpole)], None
        for form in ("planes", "packed", "none"):
            best = table.best("batch", game=game, form=form, threads=1, copies=False)
            value = best["value"] if best else None
            planes = planes or value
            cells.append(rate(value))
            if form == "planes":
                cells += [ratio(value, cartpole), ratio(value, memset(best))]
            elif form == "packed":
                cells.append(ratio(value, planes))
        lines.append((game, *cells, _signature(table, game)))
    headings = (
        "game", "bare plies/s", "× CartPole", "planes steps/s", "× CartPole", "of memset",
        "packed steps/s", "× planes", "masks only steps/s", "signature",
    )  # fmt: skip
    note = (
        "Bare: random play with resets in compiled code. Planes, packed, masks only: `step` of the "
        "vector environment with masks and autoreset, zero-copy, at the fastest batch size, "
        "without the choice of actions (`loop_value` in `rows.jsonl` includes it). Of memset: the "
        "share of the rate at which `memset` fills the same buffers."
    )
    return _section(note, headings, lines)


def _search(table: Table) -> str:
    forms = list(dict.fromkeys(row["form"] for row in table.pick("search")))
    found = {(row["game"], row["form"]): row["value"] for row in table.pick("search")}
    lines = [
        (game, *(rate(found.get((game, form))) for form in forms))
        for game in dict.fromkeys(game for game, _ in found)
    ]
    note = (
        "From the start of a game, on one core: simulations a second of UCT with random rollouts, "
        "to the end or cut off after some plies; of PUCT, which evaluates every move of a position "
        "in each; and positions a second of alpha-beta."
    )
    return _section(note, ("game", *forms), lines)


def _learning(table: Table) -> str:
    lines = []
    for row in table.pick("learner"):
        beside = table.best("learner", game=row["game"], form=SB3)
        best = table.best("pass", game=row["game"], network=row["network"])
        sb3, limit = (each["value"] if each else None for each in (beside, best))
        sizes = ", ".join(f"{name} {size}" for name, size in row["sizes"].items())
        lines.append((
            row["game"], f"`{row['form']}`", f"{row['network']}, {sizes}", rate(row["value"]),
            ratio(row["value"], sb3), rate(limit), ratio(row["value"], limit), f"`{row['plays']}`",
        ))  # fmt: skip
    headings = (
        "game", "script", "network", "steps/s", f"× {SB3}", "torch passes/s", "of torch", "plays",
    )  # fmt: skip
    note = (
        "Steps learned from per second with one thread: games, search if there is one, updates and "
        "logs. Torch passes: forward and backward passes of the same network in plain torch, the "
        "limit of a script that uses torch; `value` is compiled and may exceed it. Plays: a digest "
        "of the agent's moves after one update; another processor or version of torch may give "
        "another one."
    )
    return _section(note, headings, lines)


def _networks(table: Table) -> str:
    kinds = ("evaluation", "pass")
    sizes = {kind: sorted({row["size"] for row in table.pick(kind)}) for kind in kinds}
    found = {
        (row["game"], row["network"], kind, row["size"]): row["value"]
        for kind in kinds
        for row in table.pick(kind)
    }
    lines = [
        (game, network, *(rate(found.get((game, network, k, n))) for k in kinds for n in sizes[k]))
        for game, network in dict.fromkeys(key[:2] for key in found)
    ]
    headings = (
        "game", "network", *(f"evaluations/s, {n} at a time" for n in sizes["evaluation"]),
        *(f"torch passes/s, {n} at a time" for n in sizes["pass"]),
    )  # fmt: skip
    note = (
        "Positions evaluated per second, with one call from Python for each batch: `value` from "
        "states by the compiled network, the others from observations by torch. Torch passes: as "
        "above."
    )
    return _section(note, headings, lines)


def _self_play(table: Table) -> str:
    lines = [
        (row["game"], f"`{row['search']}`", row["network"], rate(row["value"]), f"`{row['plays']}`")
        for row in table.pick("self-play")
    ]
    headings = ("game", "search", "network", "moves/s", "plays")
    note = "Moves of self-play per second, many games at once; the networks are untrained."
    return _section(note, headings, lines)


def _sizes(table: Table) -> str:
    found = table.pick("batch", threads=1, copies=False)
    sizes = sorted({row["size"] for row in found})
    texts = []
    for form in dict.fromkeys(row["form"] for row in found):
        alike = {"form": form, "threads": 1, "copies": False}
        lines = [
            (game, *(_with_share(table.best("batch", game=game, size=n, **alike)) for n in sizes))
            for game in table.games
        ]
        headings = ("game", *(f"{size:,}" for size in sizes))
        texts.append(f"Steps/s of `{form}` (of memset):\n\n{markdown(headings, lines)}")
    return "\n\n".join(texts)


def _with_share(row: Row | None) -> str:
    """The rate of a row and, in brackets, its share of the rate of a memset."""
    if row is None:
        return "–"
    limit = memset(row)
    return rate(row["value"]) + (f" ({ratio(row['value'], limit)})" if limit else "")


def _threads(table: Table) -> str:
    lines = []
    for row in table.pick("batch"):
        if row["threads"] == 1 and not row["copies"]:
            continue
        alike = {name: row[name] for name in ("game", "form", "size")}
        one = table.best("batch", **alike, threads=1, copies=False)
        if one is None:
            continue
        what = "copies" if row["copies"] else f"{row['threads']} threads"
        lines.append((
            row["game"], row["form"], f"{row['size']:,}", what, rate(row["wall"]),
            ratio(row["wall"], one["wall"]), f"{row['wall'] / row['value']:.2f}",
            rate(row["value"]), ratio(row["value"], one["value"]),
        ))  # fmt: skip
    headings = (
        "game", "form", "batch", "with", "steps/s, wall-clock", "× one thread", "cores used",
        "per CPU second", "× one thread",
    )  # fmt: skip
    note = (
        "Compared with one thread and zero-copy buffers. By the wall clock two threads are faster "
        "only if they get two cores. Cores used is CPU time divided by wall time; the system "
        "counts the CPU time of other threads only in ticks. The last column shows what "
        "coordination costs (1 means nothing)."
    )
    return _section(note, headings, lines)


def _aec(table: Table) -> str:
    raw_four, four, lines = table.reference(RAW_FOUR), table.reference(FOUR), []
    for game in table.games:
        raw, env = (table.best("aec", game=game, form=form) for form in ("raw_env", "env"))
        if raw is not None and env is not None:
            lines.append((
                game, rate(raw["value"]), ratio(raw["value"], raw_four),
                rate(env["value"]), ratio(env["value"], four),
            ))  # fmt: skip
    headings = ("game", "raw_env steps/s", "× connect_four", "env steps/s", "× connect_four")
    return _section("", headings, lines)


def _matches(table: Table) -> str:
    played = {row["game"]: row for row in table.pick("match")}
    lines = [
        (game, rate(played[game]["value"]), rate(played[game]["wall"]))
        for game in table.games
        if game in played
    ]
    headings = ("game", "greedy against random, games/s of CPU time", "games/s on all cores")
    return _section("", headings, lines)


def _memory(table: Table) -> str:
    rows = table.pick("memory")
    forms = list(dict.fromkeys(row["form"] for row in rows))
    lines = []
    for game in table.games:
        mine = {row["form"]: row for row in rows if row["game"] == game}
        if mine:
            state = str(next(iter(mine.values()))["state"])
            cells = (f"{mine[form]['value']:,.0f}" if form in mine else "–" for form in forms)
            lines.append((game, state, *cells))
    headings = ("game", "state", *(f"all, {form}" for form in forms))
    note = "Bytes that one more game takes in a vector environment: for its state, and in total."
    return _section(note, headings, lines)


def _start(table: Table) -> str:
    lines = [
        (
            row["game"], "first AEC step" if row["form"] == "aec" else "first batched step",
            f"{row['import']:.2f}", f"{row['value']:.2f}", f"{row['wall']:.2f}",
            f"{row['cold']:.1f}", f"{row['compile']:.1f}",
        )
        for row in table.pick("start")
    ]  # fmt: skip
    headings = ("game", "from `import` to the", "import", "warm", "warm, wall", "cold", "compiling")
    note = "Seconds of CPU time in a fresh process; cold means with an empty compile cache."
    return _section(note, headings, lines)


def _missing(table: Table) -> str:
    lines = [
        (row["key"], row.get("error") or row.get("skipped", ""))
        for row in table.rows
        if "value" not in row
    ]
    return _section("", ("what", "why"), lines)


def marks(command: str) -> tuple[str, str]:
    """The two lines of a page between which the report of a command is written."""
    return f"<!-- begin: {command} -->", f"<!-- end: {command} -->"


def put_into(page: str, report: str, command: str) -> str:
    """A page with a command's report inserted, without its title and with headings a level lower.

    Raises:
        ValueError: the page does not have the two lines of `marks`.
    """
    begin, end = marks(command)
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page needs one line {begin} and one line {end}")
    before, rest = page.split(begin)
    _, after = rest.split(end)
    body = report.split("\n", 1)[1].replace("\n## ", "\n### ").strip()
    return f"{before}{begin}\n\n{body}\n\n{end}{after}"
