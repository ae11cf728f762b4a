"""The signature changes with the rules, and with nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from azumaya.benchmarks import signature
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import popcount
from azumaya.envs.kernels.compile import kernel
from tests.cases import TESTED, YARDSTICK, nightly

some_games = pytest.mark.parametrize(
    "game", nightly(TESTED.values(), (YARDSTICK.name,)), ids=lambda game: game.name
)
"""The yardstick; kernels of the others are compiled nightly."""


@some_games
def test_all_ways_of_stepping_give_the_same_signature(game: Game) -> None:
    found = {
        signature.of_rollout(game),
        signature.of_aec(game),
        *(signature.of_batch(game, form, 8) for form in ("planes", "packed", "none")),
        signature.of_batch(game, "none", 1),
        signature.of_batch(game, "none", 64),
        signature.of_batch(game, "none", 2048, threads=2),
    }
    assert len(found) == 1


@some_games
def test_a_changed_rule_changes_it(game: Game) -> None:
    """The rule altered: the lowest legal action is forbidden where there are several."""
    write_legal = game.rules.write_legal

    @kernel
    def forbid_lowest(state, words):  # type: ignore[no-untyped-def]
        write_legal(state, words)
        several = 0
        for w in range(words.shape[0]):
            several += popcount(words[w])
        if several > 1:
            for w in range(words.shape[0]):
                if words[w] != 0:
                    words[w] &= words[w] - 1
                    break

    changed = replace(game, rules=replace(game.rules, write_legal=forbid_lowest))
    assert signature.of_rollout(changed) != signature.of_rollout(game)
