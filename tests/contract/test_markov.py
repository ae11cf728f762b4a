"""Equal observations mean equal masks and equal futures.

Moves are chosen by a hash of the observation, so two positions that look alike to the player to
move continue alike until the end. To make different histories lead to equal observations, games
begin with the same few moves in different orders, and with all or some of the choices in the first
steps. Variants with the same number of actions are tested together, because an environment may
switch between them at `reset`.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

import pytest

from azumaya.envs.game import Game
from azumaya.envs.position import Position
from tests.cases import TESTED, Case, cases_of

OPENING_PLIES = 5
SHUFFLES = 2
WIDTH, MOST_OPENINGS = 3, 8
MOST_VARIANTS = 4
MEETING = next(iter(TESTED.values()))
"""A game with variants that differ only in their texts, so that equal observations are common."""


@dataclass(frozen=True)
class Seen:
    """The mask and the position text when an observation was first seen."""

    mask: bytes
    text: str


class Memory:
    """The observations seen so far in one game, and what followed each of them."""

    def __init__(self, game: Game, salt: int) -> None:
        self.game, self.salt = game, salt
        self.seen: dict[bytes, Seen] = {}
        self.followed: dict[tuple[bytes, int], tuple[tuple[object, ...], str]] = {}
        self.met = 0

    def look(self, position: Position) -> bytes:
        """The key of the observation; asserts that its mask is the same as before."""
        view = view_of(position, position.to_move)
        mask = position.action_mask().tobytes()
        text = str(position)
        known = self.seen.setdefault(view, Seen(mask, text))
        assert known.mask == mask, f"equal observations, different masks:\n{known.text}\n{text}"
        self.met += known.text != text
        return view

    def follow(self, view: bytes, position: Position, action: int) -> None:
        """Play; asserts that the outcome is the same as after an equal observation."""
        mover, text = position.to_move, str(position)
        before = position.returns()[mover]
        position.play(action)
        outcome: tuple[object, ...] = (
            position.returns()[mover] - before,
            position.is_terminated,
            position.is_truncated,
            position.to_move == mover,
        )
        if self.game.rules.resample is None:
            outcome += (view_of(position, mover), view_of(position, 1 - mover))
        known = self.followed.setdefault((view, action), (outcome, text))
        assert known[0] == outcome, f"equal observations, different futures:\n{known[1]}\n{text}"

    def choose(self, view: bytes, actions: list[int]) -> int:
        """A move that depends only on the observation."""
        digest = hashlib.blake2b(view, digest_size=8, key=self.salt.to_bytes(8, "big")).digest()
        return actions[int.from_bytes(digest, "big") % len(actions)]


def view_of(position: Position, player: int) -> bytes:
    """A digest of a player's observation."""
    return hashlib.blake2b(position.observation(player).tobytes(), digest_size=16).digest()


def walk(memory: Memory, position: Position, opening: list[int], bound: int) -> None:
    """Play the legal moves of an opening, then to the end as the observations decide."""
    steps = 0
    for action in opening:
        if action in position.legal_actions():
            memory.follow(memory.look(position), position, action)
    while not position.is_over:
        steps += 1
        assert steps <= bound, f"no end after {bound} steps: {position}"
        view = memory.look(position)
        memory.follow(view, position, memory.choose(view, position.legal_actions()))


def opening_of(position: Position, rng: random.Random) -> list[int]:
    """Some random first moves."""
    actions = []
    for _ in range(OPENING_PLIES):
        if position.is_over:
            break
        actions.append(rng.choice(position.legal_actions()))
        position.play(actions[-1])
    return actions


def openings_of(position: Position, rng: random.Random) -> list[list[int]]:
    """One opening in several orders, and a tree of first steps."""
    opening = opening_of(position.copy(), rng)
    orders = [rng.sample(opening, len(opening)) for _ in range(SHUFFLES)]
    tree: list[list[int]] = [[]]
    while tree and len(tree) <= MOST_OPENINGS and len(tree[0]) < OPENING_PLIES:
        tree = [[*steps, action] for steps in tree for action in some_moves(position, steps, rng)]
    return [opening, *orders, *tree]


def some_moves(position: Position, steps: list[int], rng: random.Random) -> list[int]:
    """At most `WIDTH` legal moves after some steps."""
    after = position.copy()
    for action in steps:
        after.play(action)
    legal = after.legal_actions()
    return rng.sample(legal, min(WIDTH, len(legal)))


def groups_of(game: Game) -> list[list[Case]]:
    """The variants of a game, grouped by their number of actions."""
    groups: dict[int, list[Case]] = {}
    for case in cases_of(game):
        groups.setdefault(case.setup.num_actions, []).append(case)
    return list(groups.values())


def check_group(game: Game, group: list[Case], rng: random.Random, seeds: int) -> int:
    """Walk all variants of a group; returns how often different texts had equal observations."""
    memory = Memory(game, salt=rng.randrange(2**32))
    for seed in range(seeds):
        for case in group:
            for opening in openings_of(case.position(seed), rng):
                bound = game.options.max_steps(case.setup.settings)
                walk(memory, case.position(seed), opening, bound)
    return memory.met


@pytest.mark.parametrize(
    ("variants", "seeds"), [(MOST_VARIANTS, 1), pytest.param(None, 12, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("game", TESTED.values(), ids=lambda game: game.name)
def test_equal_observations_have_equal_futures(
    game: Game, variants: int | None, seeds: int, rng: random.Random
) -> None:
    """In one game some must have met, or nothing was compared."""
    met = sum(check_group(game, group[:variants], rng, seeds) for group in groups_of(game))
    assert met > 0 or game is not MEETING
