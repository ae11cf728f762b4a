"""Checking a game of one's own against all laws, and what is found, for `azumaya check-game`."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from azumaya.baselines.cli.contract import (
    PLY_CHECKS,
    ContractError,
    Options,
    check_batch,
    check_pictures,
    check_seeds,
    different,
    expect,
    play_checked,
    plies_of,
    saying_where,
)
from azumaya.baselines.cli.kernel_errors import compile_error
from azumaya.envs.errors import told
from azumaya.envs.game import Game
from azumaya.envs.position import Position
from azumaya.wrappers import Transform, random_transform

COMPILED = "Every kernel can be compiled."


class Finding(NamedTuple):
    """A law, how a variant of a game breaks it, "" if it does not, and the error that says so."""

    law: str
    broken: str = ""
    error: Exception | None = None


def check_game(game: Game, options: Options, games: int = 3, seed: int = 0) -> list[Finding]:
    """Check a game with some options; a law that a game has broken is not checked again.

    If a kernel cannot be compiled, that is all that is found.
    """
    others: tuple[Callable[..., None], ...] = (
        check_seeds, check_batch, check_symmetries, check_pictures,
    )  # fmt: skip
    broken: dict[Callable[..., None], Exception] = {}
    for number in range(games):
        rng = random.Random(f"{seed} {number}")
        left = [check for check in PLY_CHECKS if check not in broken]
        play: Callable[..., None] = partial(play_checked, checks=left, failed=broken.setdefault)
        for law, check in ((play_checked, play), *zip(others, others, strict=True)):
            try:
                if law not in broken:
                    check(game, options, rng)
            except Exception as raised:
                broken[law] = raised
            for wrong in broken.values():
                if explained := compile_error(wrong):
                    return [Finding(COMPILED, explained, wrong)]
    laws: tuple[Callable[..., None], ...] = (play_checked, *PLY_CHECKS, *others)
    found, seen = list[Finding](), set[str]()
    for law in laws:
        error = broken.get(law)
        again = error is not None and told(error) in seen
        why = f"{type(error).__name__}, as above" if again else _explained(error)
        found.append(Finding((law.__doc__ or "").strip(), why, error))
        seen |= {told(error)} if error else set()
    return found


def _explained(error: Exception | None) -> str:
    """What is wrong and where, with the line of code if it is no law that found it; "" if none."""
    if error is None:
        return ""
    said = str(error)
    if not isinstance(error, ContractError):
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{told(error)}\n{at.filename}:{at.lineno}: {at.line}"
    return "\n".join([said, *getattr(error, "__notes__", ())])


# ---- the law of symmetries ----


def check_alike(transform: Transform, position: Position, image: Position) -> None:
    """A position and its image have the same states, masks, observations and returns."""
    wanted, how, swaps = transform.position(position), transform.symmetry.name, transform.swaps
    wrong = different(image.state, wanted.state)
    expect(not wrong, f"{how}: {wrong}")
    expect(image == wanted, f"{how}: the positions are not equal")
    mask = transform.mask(position.action_mask())
    expect((image.action_mask() == mask).all(), f"{how}: other actions are legal")
    for player in (0, 1):
        seen = transform.observation(position.observation(player))
        same = (image.observation(player ^ swaps) == seen).all()
        expect(same, f"{how}: player_{player} sees other planes")
    sign = -1 if swaps else 1
    expect(image.returns() == tuple(sign * g for g in position.returns()), f"{how}: other returns")
    ends = [(here.is_terminated, here.is_truncated) for here in (image, position)]
    expect(ends[0] == ends[1], f"{how}: another end")


def play_both(transform: Transform, position: Position, rng: random.Random, plies: int) -> Position:
    """Play at random from a position and its image, and compare them at every ply."""
    image = transform.position(position)
    check_alike(transform, position, image)
    for _ in range(plies):
        if position.is_over:
            break
        action = rng.choice(position.legal_actions())
        position.play(action)
        image.play(transform.action(action))
        check_alike(transform, position, image)
    return position


def check_symmetries(game: Game, options: Options, rng: random.Random) -> None:
    """To play a transformed game gives the transforms of its positions."""
    position = Position(game, seed=rng.randrange(2**32), **options)
    for _ in range(0, plies_of(game, options), 9):
        if position.is_over:
            break
        transform = random_transform(game, rng.randrange(2**64), position)
        with saying_where(lambda: str(position)):
            play_both(transform, position, rng, plies=9)
