"""TextArena: scripted models play all games, one of them with mistakes."""

from __future__ import annotations

import json
import random
from typing import Any

import textarena

from azumaya.baselines.text.textarena import register_textarena, textarena_env
from azumaya.envs import GAMES

BAD_TRIES = ("I am not sure.", "move: zz9")


def answer(env: Any, rng: random.Random) -> str:
    """A random legal move, in a sentence."""
    return f"I have thought about it.\nmove: {rng.choice(env.position.legal_moves())}"


def play(game: str, seed: int) -> dict[str, Any]:
    """A whole game; every tenth move needs a second try."""
    options = {"max_plies": 60} if game == "abalone" else {}
    env = textarena_env(game, **options)
    env.reset(num_players=2, seed=seed)
    rng, done, steps, refused = random.Random(seed), False, 0, 0
    while not done:
        player, messages = env.get_observation()
        assert player == env.position.to_move, (game, player)
        assert messages, game
        if steps % 10 == 5:
            done, _ = env.step(BAD_TRIES[steps % 2])
            refused += 1
            assert not done, (game, "one refusal is allowed")
        done, _ = env.step(answer(env, rng))
        steps += 1
    rewards, _ = env.close()
    gain = env.position.returns()[0]
    sign = (gain > 0) - (gain < 0)
    assert rewards == {0: sign, 1: -sign}, (game, rewards, gain)
    return {"steps": steps, "refused": refused}


def lose_by_mistakes() -> dict[int, int]:
    """The rewards where player_0 never names a legal move."""
    env = textarena_env("vierer_dominari")
    env.reset(num_players=2, seed=1)
    done = False
    while not done:
        done, _ = env.step("move: zz9")
    rewards, _ = env.close()
    return dict(rewards)


def main() -> None:
    """Play everything and print one line."""
    games = {game: play(game, seed) for seed, game in enumerate(GAMES)}
    assert lose_by_mistakes() == {0: -1, 1: 1}
    ids = register_textarena()
    env = textarena.make(ids[0])
    env.reset(num_players=2, seed=3)
    assert register_textarena() == ids
    print(json.dumps({"games": games, "made": ids[0]}))


if __name__ == "__main__":
    main()
