"""Recorded digests of what players are told: names of moves, evaluations, hints, features.

Whether a hint is true is tested with minimax (`tests/search/test_bounds.py`). That it says as much
as it did, here: a change of one number in one of some thousand positions changes a digest.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.baselines.agents.candidates import CandidateFinder
from azumaya.baselines.agents.plane_groups import group_planes
from azumaya.baselines.search.hints import Hints, hints_of
from azumaya.envs import Position
from azumaya.envs.game import Game
from azumaya.envs.games._shima.territory import NAMED, Territory
from tests.cases import Case, cases_of
from tests.oracles.vierer_dominari import MANY_BLANKS
from tests.values.networks import features_for

FOLDER = Path(__file__).with_name("told")
EMPTY = {"puzzle": "." * 81}
STANDARD = NAMED["standard"]
SWAPPED = Territory(
    (STANDARD.regions[80], *STANDARD.regions[1:80], STANDARD.regions[0]), STANDARD.owners
)
"""Two regions that are no blocks."""
MORE: dict[str, tuple[dict[str, Any], ...]] = {
    "sudoku_moyo": (EMPTY, {**EMPTY, "territory": "rows"}, {"territory": SWAPPED}),
    "sudoku_horikomi": (EMPTY, {**EMPTY, "territory": "corners"}),
    "vierer_dominari": ({"position": MANY_BLANKS},),
}
"""By game, options beside its variants: more candidates at the end, and regions of another form."""


def cases_told(game: Game) -> list[Case]:
    """The variants of a game, and more."""
    cases = cases_of(game)
    more = enumerate(MORE.get(game.name, ()), len(cases))
    return [*cases, *(Case(game, number, options) for number, options in more)]


def told_of(case: Case, seed: int) -> dict[str, str]:
    """A digest of each thing that is told about the positions of a random game."""
    tellers, rng, position = tellers_of(case.game), random.Random(seed), case.position(seed)
    hashes = {name: hashlib.blake2b(digest_size=4) for name in ("moves", *tellers)}
    for mover, action in itertools.product((0, 1), range(position.num_actions)):
        name = case.game.words.move_name(action, case.setup.settings, mover)
        hashes["moves"].update(f"{name} ".encode())
    while not position.is_over:
        for name, tell in tellers.items():
            hashes[name].update(tell(position).encode())
        position.play(rng.choice(position.legal_actions()))
    return {name: found.hexdigest() for name, found in hashes.items()}


def tellers_of(game: Game) -> dict[str, Callable[[Position], str]]:
    """By name, what writes as a text what is told about a position."""
    hints = hints_of(game)
    tellers: dict[str, Callable[[Position], str]] = {
        name: tell for name, tell in of_hints(hints).items() if getattr(hints, name) is not None
    }
    tellers["evaluate"] = lambda p: str([int(game.rules.evaluate(p.state[0], i)) for i in (0, 1)])
    tellers["features"] = lambda position: str(
        [sorted(features_for(position, player).items()) for player in (0, 1)]
    )
    with contextlib.suppress(ValueError):  # the game has no candidates
        tellers["candidates"] = of_candidates(CandidateFinder(game))
    return tellers


def of_candidates(finder: CandidateFinder) -> Callable[[Position], str]:
    """What a network is told of candidates, also where a number is used up and some rows closed."""

    def tell(position: Position) -> str:
        planes = np.stack([position.observation(position.to_move)] * 2)
        names = enumerate(plane.name for plane in position.game.observation.planes)
        planes[1, [kind[0] for kind in group_planes(position.game).counted]] = 0
        planes[1, [i for i, name in names if name in ("own", "opposing")], :3] = 0
        seen = finder.find(planes)
        numbers = [*seen]
        # thousandths, cut where no fraction of small numbers lies
        return str([np.floor(array * 1000 + 0.1234567).astype(int).tolist() for array in numbers])

    return tell


def of_hints(hints: Hints) -> dict[str, Callable[[Position], str]]:
    """The same for all hints that there may be."""

    def board(tell: Any, position: Position, player: int) -> str:
        words = np.zeros(-(-position.game.observation.cells // 64), np.uint64)
        tell(position.state[0], player, words)
        return str(words.tolist())

    def simplify(position: Position) -> str:
        simple = position.copy()
        hints.simplify(simple._states[0])  # type: ignore[misc]
        return simple.state.tobytes().hex()

    def outlook(position: Position) -> str:
        row = np.zeros(hints.outlook_words, np.uint64)
        hints.outlook(position.state[0], row)  # type: ignore[misc]
        return str(row.tolist())

    def narrow(position: Position) -> str:
        packed = np.zeros(-(-position.num_actions // 64), np.uint64)
        position.game.rules.write_legal(position.state[0], packed)
        hints.narrow(position.state[0], packed)  # type: ignore[misc]
        return str(packed.tolist())

    return {
        "bounds": lambda p: str([int(x) for x in hints.bounds(p.state[0])]),  # type: ignore[misc]
        "simplify": simplify,
        "outlook": outlook,
        "rank": lambda p: str([int(hints.rank(p.state[0], player)) for player in (0, 1)]),  # type: ignore[misc]
        "prospects": lambda p: str([int(x) for x in hints.prospects(p.state[0])]),  # type: ignore[misc]
        "narrow": narrow,
        "reach": lambda p: "".join(board(hints.reach, p, player) for player in (0, 1)),
        "takes": lambda p: "".join(board(hints.takes, p, player) for player in (0, 1)),
    }


def read_told(game: Game) -> dict[str, list[dict[str, str]]]:
    """What is recorded of a game: by the labels of its cases, the digests of each seed."""
    found: dict[str, list[dict[str, str]]]
    found = json.loads((FOLDER / f"{game.name}.json").read_text())
    return found


def record_told(game: Game) -> None:
    """Write what a game tells now; more of it with the default options."""
    cases = [(case, 5 if case.number == 0 else 2) for case in cases_told(game)]
    found = {case.label: [told_of(case, seed) for seed in range(n)] for case, n in cases}
    FOLDER.mkdir(exist_ok=True)
    rows = (f"{json.dumps(label)}: {json.dumps(told)}" for label, told in found.items())
    (FOLDER / f"{game.name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")
