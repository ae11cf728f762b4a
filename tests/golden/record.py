"""Record the goldens: perft files, playthroughs and what is told.

    python -m tests.golden.record [--game NAME] [--only perft|playthroughs|told]

Record them again only after an intended change of rules, texts or hints. The change then shows in
the diff, and belongs in the version history of the game.
"""

from __future__ import annotations

import argparse
import random
import shutil

from azumaya.envs.game import Game
from azumaya.envs.position import Position
from tests.cases import TESTED, Case, cases_of, describe
from tests.golden import perft, playthrough
from tests.golden.told import record_told

MOST_SEQUENCES = 20_000
DEEPEST = 10
BEFORE_THE_END = 5


def random_moves(case: Case, seed: int) -> list[str]:
    """A random game of a variant."""
    rng, position, moves = random.Random(f"{case.label} {seed}"), case.position(seed), []
    while not position.is_over:
        moves.append(rng.choice(position.legal_moves()))
        position.play(moves[-1])
    return moves


def section_of(case: Case, seed: int, moves: list[str]) -> perft.Section:
    """The perft of the position after some moves."""
    position = case.position(seed)
    for name in moves:
        position.play(name)
    rows = tuple(perft.count(position, MOST_SEQUENCES, DEEPEST))
    return perft.Section(
        case.game.name, describe(case.options), seed, tuple(moves), str(position), rows
    )


def record_perft(game: Game) -> None:
    """For each variant, a start, a position in mid-game and one close to the end."""
    parts = [perft.header(game)]
    for seed, case in enumerate(cases_of(game)):
        moves = random_moves(case, seed)
        cuts = (0, len(moves) // 2, max(0, len(moves) - BEFORE_THE_END))
        parts += [perft.write_section(section_of(case, seed, moves[:cut])) for cut in cuts]
    perft.FOLDER.mkdir(exist_ok=True)
    (perft.FOLDER / f"{game.name}.txt").write_text("\n".join(parts))


def record_playthroughs(game: Game) -> None:
    """A game of each variant; two games if there is only one variant."""
    folder = playthrough.FOLDER / game.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cases = cases_of(game)
    for number, case in enumerate(cases if len(cases) > 1 else 2 * cases):
        played = play_and_look(case, 100 + number)
        (folder / f"{number:02}.json").write_text(played.to_json())


def play_and_look(case: Case, seed: int) -> playthrough.Playthrough:
    """A random game, recorded."""
    position: Position = case.position(seed)
    start, plies = playthrough.look_at(position), []
    for name in random_moves(case, seed):
        position.play(name)
        plies.append((name, playthrough.look_at(position)))
    return playthrough.Playthrough(
        case.game.name, describe(case.options), seed, start, tuple(plies), position.returns()
    )


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="all", choices=["all", *TESTED])
    kinds = {"perft": record_perft, "playthroughs": record_playthroughs, "told": record_told}
    parser.add_argument("--only", choices=kinds)
    args = parser.parse_args()
    for name, game in TESTED.items():
        if args.game not in ("all", name):
            continue
        for record in [kinds[args.only]] if args.only else kinds.values():
            record(game)
        print(f"{name}: recorded")


if __name__ == "__main__":
    main()
