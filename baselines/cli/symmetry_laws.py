"""What holds for every symmetry of a game: a law of `azumaya check-game`."""

from __future__ import annotations

import random

from azumaya.baselines.cli.contract import Options, different, expect, plies_of, saying_where
from azumaya.envs.game import Game
from azumaya.envs.position import Position
from azumaya.wrappers import Transform, random_transform


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
    expect(image.to_move == position.to_move ^ swaps, f"{how}: another player is to move")


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
