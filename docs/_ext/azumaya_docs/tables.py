"""Tables of the documentation in Markdown, made from the `Game` records and other code."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from sphinx.pycode import ModuleAnalyzer

from azumaya.baselines.protocol.cards import leaderboard, read_card
from azumaya.baselines.protocol.report import page, summary
from azumaya.baselines.protocol.table import read_table
from azumaya.baselines.protocol.tracks import AZUMAYA_3
from azumaya.baselines.system.command_line import flag
from azumaya.baselines.training import alphazero, maskable_ppo, ppo
from azumaya.baselines.training import value as value_script
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.evaluation import stored_results
from azumaya.baselines.training.network_config import RECIPES, Recipe
from azumaya.envs import GAMES, Position
from azumaya.envs.game import Game
from azumaya.envs.setup import POSITION, prepare
from azumaya_docs import statistics


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_cell(part) for part in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(part: object) -> str:
    return str(part).replace("|", "\\|").replace("\n", " ")


# ---- options ----


def options_table(game: Game) -> str:
    """The options of a game: constructor keywords and keys of `reset(options=...)`."""
    rows = [
        (f"`{option.name}`", option.values, f"`{option.default!r}`", option.meaning)
        for option in game.options
    ]
    rows.append(
        (
            f"`{POSITION}`",
            "a position text or None",
            "`None`",
            "Every episode starts from it, whatever other options say about the start; `None` in "
            "`reset` turns this off for one episode.",
        )
    )
    return table(("option", "values", "default", "meaning"), rows)


# ---- observations ----


def planes_table(game: Game) -> str:
    """The observation planes; planes that differ only in their number share a row."""
    rows = []
    for first, last in _runs(game):
        plane = game.observation.planes[first]
        index = str(first) if first == last else f"{first} to {last}"
        name, meaning = plane.name, plane.meaning
        if first != last:
            name, meaning = _numbered(game, first, last)
        kind = (
            "0 or 1, cell by cell"
            if plane.kind == "cells"
            else f"0 to {plane.high}, the same on all cells"
        )
        rows.append((index, name, kind, meaning))
    return table(("plane", "name", "values", "meaning"), rows)


def _runs(game: Game) -> list[tuple[int, int]]:
    """First and last plane of each row of the table."""
    runs: list[tuple[int, int]] = []
    for index in range(len(game.observation.planes)):
        if runs and _goes_on(game, runs[-1][0], index):
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


def _number(name: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.* )(\d+)", name)
    return (match.group(1), int(match.group(2))) if match else (name, None)


def _goes_on(game: Game, first: int, index: int) -> bool:
    """Whether a plane continues a row: the same text as its first plane, for another number."""
    a, b = game.observation.planes[first], game.observation.planes[index]
    (stem, start), (other, number) = _number(a.name), _number(b.name)
    if stem != other or start is None or number != start + index - first:
        return False
    same = re.sub(rf"\b{start}\b", str(number), a.meaning) == b.meaning
    return same and (a.kind, a.high) == (b.kind, b.high)


def _numbered(game: Game, first: int, last: int) -> tuple[str, str]:
    plane = game.observation.planes[first]
    stem, start = _number(plane.name)
    end = _number(game.observation.planes[last].name)[1]
    return f"{stem}{start} to {end}", re.sub(rf"\b{start}\b", "*n*", plane.meaning)


# ---- actions ----


def action_sets(game: Game) -> list[tuple[str, Mapping[str, Any]]]:
    """One set of options for each size of the action space, with a name for it."""
    found: dict[int, tuple[str, Mapping[str, Any]]] = {}
    for options in sorted(game.options.variants, key=len):
        count = prepare(game, options).num_actions
        found.setdefault(count, (_which(game, options, count), options))
    return sorted(found.values(), key=lambda item: prepare(game, item[1]).num_actions)


def _which(game: Game, options: Mapping[str, Any], count: int) -> str:
    """The options that determine the size of the action space."""
    matter = {}
    for name, value in options.items():
        rest = {k: v for k, v in options.items() if k not in (name, POSITION)}
        if name != POSITION and prepare(game, rest).num_actions != count:
            matter[name] = value
    return ", ".join(f"`{k}={v!r}`" for k, v in matter.items()) or "by default"


def actions_table(game: Game) -> str:
    """The meaning of the action numbers, as runs of actions whose names have the same form."""
    parts = []
    sets = action_sets(game)
    for title, options in sets:
        setup = prepare(game, options)
        rows = [
            (_span(a, b), f"`{_name(game, setup, a)}` to `{_name(game, setup, b)}`")
            if a != b
            else (_span(a, b), f"`{_name(game, setup, a)}`")
            for a, b in action_runs(game, setup)
        ]
        heading = f"`Discrete({setup.num_actions})`"
        if len(sets) > 1:
            heading += f", {title}"
        parts.append(f"{heading}:\n\n{table(('actions', 'names'), rows)}")
    return "\n".join(parts)


def action_runs(game: Game, setup: Any) -> list[tuple[int, int]]:
    """First and last action of each run."""
    runs: list[tuple[int, int]] = []
    forms = [_form(_name(game, setup, action)) for action in range(setup.num_actions)]
    for action, form in enumerate(forms):
        if runs and forms[runs[-1][0]] == form:
            runs[-1] = (runs[-1][0], action)
        else:
            runs.append((action, action))
    return runs


def _form(name: str) -> str:
    """A name without its squares and digits, which is the same for all names of one kind."""
    if re.fullmatch(r"\d[a-i]\d", name):
        return name[0] + "square"
    if re.fullmatch(r"r\d|start\d|\doff", name):
        return re.sub(r"\d", "", name)
    if re.fullmatch(r"[wb][a-i]\d", name):
        return name[0] + " blank"
    return f"{len(name)} letters" if re.fullmatch(r"([a-i]\d)+", name) else name


def _name(game: Game, setup: Any, action: int) -> str:
    return game.words.move_name(action, setup.settings, 0)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


# ---- spaces, statistics, the list of games ----


def facts_table(game: Game) -> str:
    """A game at a glance."""
    setup = prepare(game, {})
    bound = game.options.max_steps(setup.settings)
    height, width = game.observation.shape
    rows = [
        ("environment", f"`{game.id}`"),
        ("module", f"`azumaya.envs.{game.name}_v{game.version}`"),
        ("agents", "`player_0`, `player_1`"),
        ("actions", f"`Discrete({setup.num_actions})`"),
        (
            "observation",
            f"`Box(0, {max(p.high for p in game.observation.planes)}, "
            f"({len(game.observation.planes)}, {height}, {width}), int8)`",
        ),
        ("packed", f"{game.observation.packed_words} words of 64 bits"),
        ("state", f"{game.rules.state.itemsize} bytes"),
        ("steps", f"at most {bound}"),
        ("`greedy` maximises", _first_line(game.rules.evaluate)),
    ]
    return table(("", ""), rows)


def _first_line(function: Any) -> str:
    return str(inspect.getdoc(function)).partition("\n")[0].rstrip(".")


def statistics_table(game: Game) -> str:
    """Random play of one game."""
    seen = statistics.read_all()[game.name]
    low, middle, high = seen["plies"]["percentiles"]
    count, plies, branching = seen["games"], seen["plies"], seen["branching"]
    rows = [
        ("plies of a game", f"{plies['mean']:.1f} on average; {low}, {middle}, {high} at the 5 %, "
         f"50 % and 95 % marks; {plies['least']} to {plies['most']}"),
        ("legal actions", f"{branching['mean']:.1f} on average, at most {branching['most']}"),
        ("player_0 wins", _share(seen["wins"][0], count)),
        ("player_1 wins", _share(seen["wins"][1], count)),
        ("draws", _share(seen["draws"], count)),
        ("truncated by a limit", _share(seen["cut_off"], count)),
    ]  # fmt: skip
    return table(("", f"{count:,} games of uniformly random play, seed {seen['seed']}"), rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}"


def games_table() -> str:
    """All games, with links to their pages."""
    seen = statistics.read_all()
    rows = []
    for game in GAMES.values():
        played = seen[game.name]
        actions = prepare(game, {}).num_actions
        rows.append(
            (
                f"[{game.title}]({game.name}.md)",
                _board(game),
                actions, len(game.observation.planes),
                f"{played['plies']['mean']:.0f}", f"{played['branching']['mean']:.0f}",
                _share(played["wins"][0], played["games"]),
                _share(played["draws"] + played["cut_off"], played["games"]),
            )
        )  # fmt: skip
    head = ("game", "board", "actions", "planes", "plies", "choices", "first wins", "no winner")
    return table(head, rows)


def _board(game: Game) -> str:
    board = Position(game).scene().board
    return {"hex61": "61 hexes"}.get(
        board, f"{game.observation.shape[0]}x{game.observation.shape[1]}"
    )


def state_table(game: Game) -> str:
    """The fields of the state record."""
    rows = []
    for name in game.rules.state.names or ():
        field: np.dtype[Any] = game.rules.state[name]
        rows.append((f"`{name}`", field.base.name, " x ".join(map(str, field.shape)) or "1"))
    return table(("field", "type", "how many"), rows)


def training_table() -> str:
    """The evaluations of agents after a short training: by games and by the exam.

    A game of which none is stored has a row with nothing in it.
    """
    stored, results = stored_results(), ("random", "greedy", "exam")
    rows = [
        (
            f"[{game.title}](../games/{name}.md)",
            *(_with_interval(stored.get(name, {}), result) for result in results),
        )
        for name, game in GAMES.items()
    ]
    return table(("game", "against random", "against greedy", "exam: wins kept"), rows)


def _with_interval(result: Mapping[str, Any], field: str, form: str = ".1%") -> str:
    if result.get(field) is None:
        return ""
    low, high = result[f"{field}_interval"]
    return f"{result[field]:{form}} ({low:{form}} to {high:{form}})"


EXAMS = Path(__file__).parents[2] / "results" / "exams.jsonl"
"""The stored results of the held-out exams, one line for each agent and game."""


def exams_table() -> str:
    """What every agent of the stored results keeps in every exam, below a row for each game."""
    stored = [json.loads(line) for line in EXAMS.read_text("utf-8").splitlines()]
    rows: list[tuple[str, ...]] = []
    for game in GAMES.values():
        results = [result for result in stored if result["game"] == game.name]
        if results:
            counts = f"{results[0]['wins']} won, {results[0]['draws']} drawn"
            rows.append((f"**{game.title}**: {counts}", "", "", ""))
        rows += [
            (
                f"`{result['agent']}`", _with_interval(result, "kept_wins", ".0%"),
                _with_interval(result, "kept_draws", ".0%"),
                _with_interval(result, "regret", ".2f"),
            )
            for result in results
        ]  # fmt: skip
    return table(("agent", "wins kept", "draws kept", "regret"), rows)


# ---- the table to beat ----

RESULTS = EXAMS.parent
BENCHMARK, CARDS = RESULTS / "table.jsonl", RESULTS / "cards"


def benchmark_tables() -> str:
    """The tables of the stored benchmark."""
    return page(read_table(BENCHMARK)[1])


def azumaya_3_table() -> str:
    """The first of them for Azumaya-3; the others have its games."""
    return summary([cell for cell in read_table(BENCHMARK)[1] if cell.job.game in AZUMAYA_3])


def leaderboard_table() -> str:
    """The cards that were sent, track by track."""
    return leaderboard([read_card(file) for file in sorted(CARDS.glob("*.json"))])


# ---- training ----

SCRIPTS: tuple[dict[str, RunConfig], ...] = (
    {"value.py": value_script.Config(), "value.py --nodes 300": value_script.Config(nodes=300)},
    {"ppo.py": ppo.Config(), "maskable_ppo.py": maskable_ppo.Config()},
    {"alphazero.py": alphazero.Config()},
)
"""The training scripts; those that share most of their options share a table."""
CONDUCT = {field.name for field in fields(RunConfig)} - {"steps"}
CONDUCT |= {"workers", "ray", "search"}
"""Options that do not say how a script learns: what is played and measured, where, how long."""


def hyperparameters_table() -> str:
    """The default hyperparameters of the training scripts."""
    names = (f"`{flag(field.name)}`" for field in fields(Recipe))
    rows = [(f"`{kind}`", *asdict(recipe).values()) for kind, recipe in RECIPES.items()]
    recipes = "The defaults by network:\n\n" + table(("`--network`", *names), rows)
    return "\n".join((*(_defaults_table(scripts) for scripts in SCRIPTS), recipes))


def hyperparameters(config: RunConfig) -> dict[str, object]:
    """The hyperparameters of a configuration, completed, or on what their defaults depend."""
    completed = config.completed()
    found = {f.name: getattr(completed, f.name) for f in fields(config) if f.name not in CONDUCT}
    if "network" in found:
        open_yet = [f.name for f in fields(Recipe) if getattr(config, f.name, "") is None]
        found |= {"network": "by game"} | dict.fromkeys(open_yet, "by network")
    return found


def _defaults_table(scripts: Mapping[str, RunConfig]) -> str:
    """The default hyperparameters of some scripts side by side, with their meanings."""
    defaults = [(type(config), hyperparameters(config)) for config in scripts.values()]
    rows = []
    for name in dict.fromkeys(name for _, found in defaults for name in found):
        meanings = [_help(config, name) for config, found in defaults if name in found]
        values = [_default(found[name]) if name in found else "" for _, found in defaults]
        rows.append((f"`{flag(name)}`", *values, " / ".join(dict.fromkeys(meanings))))
    heads = (f"`{name}`" for name in scripts)
    return table(("option", *heads, "meaning"), rows)


def _default(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"


def _help(config: type, name: str) -> str:
    """The text of an option in `--help`: its docstring."""
    for owner in config.__mro__:
        module = ModuleAnalyzer.for_module(owner.__module__)
        module.analyze()
        if (owner.__name__, name) in module.attr_docs:
            return " ".join(module.attr_docs[owner.__name__, name]).strip()
    raise LookupError(f"{config}: {name} has no docstring")
