"""Tables of a run's rows in Markdown, with the references beside each figure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from azumaya.baselines.arena.report import markdown
from azumaya.benchmarks.results import Row

CARTPOLE, RAW_FOUR, FOUR = "CartPole-v1", "connect_four_v3 raw_env", "connect_four_v3 env"
SB3 = "maskable_ppo"
"""The training script that uses Stable-Baselines3, with which the others are compared."""


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

    Rows without `limits` are those of a GPU, and of 2026-11-25 and before: each buffer was filled
    by a call from Python, and in small batches these calls take most of the time.
    """
    if row is None or ("limits" not in row and row["size"] < LEAST_FILLED):
        return None
    return float(row["memset"])


def _section(before: str, headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A line, if there is one, and a table of these lines; empty without lines."""
    line = f"{before}\n\n" if before else ""
    return line + markdown(headings, lines) if lines else ""


def machine_table(table: Table) -> str:
    """The machine, its load over the run, the clock and the budget."""
    lines = [(name, str(value)) for name, value in table.header["machine"].items()]
    loads = [row["load"] for row in table.rows if row.get("load") is not None]
    if loads:
        lines.append(("load over the run", f"{min(loads)} to {max(loads)}"))
    clock = "of the device (CUDA events)" if "gpu" in table.header["machine"] else "CPU time"
    lines += [("clock", clock), ("budget", table.header["settings"])]
    return _section("", ("what", "value"), lines)


def device_table(table: Table) -> str:
    """Steps per second on a GPU, a table for each form of observations."""
    rows = table.pick("cuda batch")
    sizes = sorted({row["size"] for row in rows})
    bare = {row["game"]: row for row in table.pick("cuda bare")}
    parts = []
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
    return "\n\n".join((*parts, _graphs_table(table)))


def _graphs_table(table: Table) -> str:
    """How long a choice and a step of few games take as one CUDA graph, and launched one by one."""
    rows = table.pick("cuda graph")
    sizes = sorted({row["size"] for row in rows})
    lines = []
    for game in table.games:
        mine = {row["size"]: row for row in rows if row["game"] == game}
        if mine:
            found = [mine.get(size) for size in sizes]
            lines.append((game, *(
                f"{row['microseconds']:.0f} ({1e6 * row['size'] / row['launched']:.0f})"
                if row and "microseconds" in row else ""
                for row in found
            )))  # fmt: skip
    headings = ("game", *(f"{size:,} games" for size in sizes))
    return _section(
        "A choice and a packed step as a CUDA graph, in µs (one by one):", headings, lines
    )


def _signature(table: Table, game: str) -> str:
    found = sorted(table.signatures(game))
    return f"`{found[0]}`" if len(found) == 1 else "**differ:** " + ", ".join(found)


def references_table(table: Table) -> str:
    """The references, with their spread over the run."""
    lines = []
    for name in (CARTPOLE, RAW_FOUR, FOUR):
        taken = [row["value"] for row in table.pick("reference", name=name)]
        if taken:
            spread = f"{rate(min(taken))} to {rate(max(taken))}"
            lines.append((name, rate(statistics.median(taken)), spread, str(len(taken))))
    return _section("", ("reference", "steps/s", "over the run", "repeats"), lines)


FORMS = ("planes", "packed", "none")
"""The forms of observations, the default first."""


class Speeds(NamedTuple):
    """The best figures of a game on one core; None where a row is missing."""

    game: str
    bare: float | None
    batch: dict[str, float | None]
    of_memset: str
    raw_env: float | None
    env: float | None


def _speeds(table: Table) -> list[Speeds]:
    """The games that a run has steps of, each with its best figures on one core."""
    found = []
    for game in table.games:
        rows = {form: _fastest(table, game, form) for form in FORMS}
        speeds = Speeds(
            game,
            _value(table.best("bare", game=game)),
            {form: _value(row) for form, row in rows.items()},
            ratio(_value(rows[FORMS[0]]), memset(rows[FORMS[0]])),
            _value(table.best("aec", game=game, form="raw_env")),
            _value(table.best("aec", game=game, form="env")),
        )
        if any((speeds.bare, *speeds.batch.values(), speeds.raw_env, speeds.env)):
            found.append(speeds)
    return found


def _fastest(table: Table, game: str, form: str) -> Row | None:
    return table.best("batch", game=game, form=form, threads=1, copies=False)


def _value(row: Row | None) -> float | None:
    return row["value"] if row else None


def ratios_table(table: Table) -> str:
    """Each game on one core beside the references."""
    cartpole, raw_four, four = (table.reference(name) for name in (CARTPOLE, RAW_FOUR, FOUR))
    lines = [
        (
            each.game, ratio(each.bare, cartpole), ratio(each.batch["planes"], cartpole),
            each.of_memset, ratio(each.batch["packed"], each.batch["planes"]),
            ratio(each.raw_env, raw_four), ratio(each.env, four), _signature(table, each.game),
        )
        for each in _speeds(table)
    ]  # fmt: skip
    headings = (
        "game", "bare × CartPole", "planes × CartPole", "planes of memset", "packed × planes",
        "raw_env × connect_four", "env × connect_four", "signature",
    )  # fmt: skip
    return _section("", headings, lines)


def rates_table(table: Table) -> str:
    """The rates behind the ratios."""
    lines = [
        (each.game, *map(rate, (each.bare, *each.batch.values(), each.raw_env, each.env)))
        for each in _speeds(table)
    ]
    headings = ("game", "bare", "planes", "packed", "masks only", "raw_env", "env")
    return _section("", headings, lines)


def search_table(table: Table) -> str:
    """Simulations and positions per second."""
    forms = list(dict.fromkeys(row["form"] for row in table.pick("search")))
    found = {(row["game"], row["form"]): row["value"] for row in table.pick("search")}
    lines = [
        (game, *(rate(found.get((game, form))) for form in forms))
        for game in dict.fromkeys(game for game, _ in found)
    ]
    return _section("", ("game", *forms), lines)


def learning_table(table: Table) -> str:
    """Steps learned from per second, limits and digests, a line for each game and script."""
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
    return _section("", headings, lines)


def networks_table(table: Table) -> str:
    """Evaluations and passes per second."""
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
    return _section("", headings, lines)


def self_play_table(table: Table) -> str:
    """Searched moves per second."""
    lines = [
        (row["game"], f"`{row['search']}`", row["network"], rate(row["value"]), f"`{row['plays']}`")
        for row in table.pick("self-play")
    ]
    headings = ("game", "search", "network", "moves/s", "plays")
    return _section("", headings, lines)


def sizes_table(table: Table) -> str:
    """Steps per second by batch size, a table for each form of observations."""
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


def threads_table(table: Table) -> str:
    """Threads and copies beside one thread without copies."""
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
    return _section("", headings, lines)


def matches_table(table: Table) -> str:
    """Whole games of the greedy agent against the random one."""
    played = {row["game"]: row for row in table.pick("match")}
    lines = [
        (game, rate(played[game]["value"]), rate(played[game]["wall"]))
        for game in table.games
        if game in played
    ]
    headings = ("game", "greedy against random, games/s of CPU time", "games/s on all cores")
    return _section("", headings, lines)


def memory_table(table: Table) -> str:
    """Bytes of one more game."""
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
    return _section("", headings, lines)


def start_table(table: Table) -> str:
    """Seconds from the start of a process to the first step."""
    lines = [
        (
            row["game"], "first AEC step" if row["form"] == "aec" else "first batched step",
            f"{row['import']:.2f}", f"{row['value']:.2f}", f"{row['wall']:.2f}",
            f"{row['cold']:.1f}", f"{row['compile']:.1f}",
        )
        for row in table.pick("start")
    ]  # fmt: skip
    headings = ("game", "from `import` to the", "import", "warm", "warm, wall", "cold", "compiling")
    return _section("", headings, lines)


def missing_table(table: Table) -> str:
    """What was not measured, and why."""
    lines = [
        (row["key"], row.get("error") or row.get("skipped", ""))
        for row in table.rows
        if "value" not in row
    ]
    return _section("", ("what", "why"), lines)
