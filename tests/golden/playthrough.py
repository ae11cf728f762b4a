"""Recorded playthroughs: a game with the position and digests after every move."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.envs.position import Position
from tests.cases import TESTED, Case, case_of

FOLDER = Path(__file__).with_name("playthroughs")


@dataclass(frozen=True)
class Look:
    """A fingerprint of a position: its text, and digests of its mask and observations."""

    text: str
    mask: str
    observations: str


def look_at(position: Position) -> Look:
    """The text and the digests of a position."""
    both = np.stack([position.observation(player) for player in (0, 1)])
    return Look(str(position), digest(position.action_mask()), digest(both))


def digest(array: np.ndarray) -> str:
    """A digest of the bytes of an array, twelve hexadecimal digits."""
    return hashlib.blake2b(array.tobytes(), digest_size=6).hexdigest()


@dataclass(frozen=True)
class Playthrough:
    """One recorded game."""

    game: str
    options: str
    seed: int
    start: Look
    plies: tuple[tuple[str, Look], ...]
    returns: tuple[int, int]

    @property
    def case(self) -> Case:
        """The variant that was played."""
        return case_of(self.game, self.options)

    def first_position(self, from_seed: bool) -> Position:
        """The start, drawn by the seed or read from its text if nothing is hidden."""
        if from_seed or TESTED[self.game].rules.resample is not None:
            return self.case.position(self.seed)
        options = {**self.case.options, "position": self.start.text}
        return Position(self.game, **options)

    def replay(self, from_seed: bool, most: int = 10**9) -> None:
        """Replay the game and compare; raises an `AssertionError` that names the ply."""
        position = self.first_position(from_seed)
        compare(look_at(position), self.start, "start")
        for ply, (name, look) in enumerate(self.plies[:most], 1):
            position.play(name)
            compare(look_at(position), look, f"ply {ply}, {name}")
        if len(self.plies) <= most:
            assert position.is_over
            assert position.returns() == self.returns

    def to_json(self) -> str:
        """The playthrough as JSON with one ply per line."""
        head = {
            "game": self.game,
            "options": self.options,
            "seed": self.seed,
            "returns": list(self.returns),
            "start": list(vars(self.start).values()),
        }
        plies = ",\n".join(json.dumps([name, *vars(look).values()]) for name, look in self.plies)
        return f'{json.dumps(head)[:-1]}, "plies": [\n{plies}\n]}}\n'


def compare(ours: Look, recorded: Look, where: str) -> None:
    """Assert that two fingerprints are equal."""
    for what, value in vars(recorded).items():
        assert getattr(ours, what) == value, f"{where}: {what}: {getattr(ours, what)} != {value}"


def read_playthrough(file: Path) -> Playthrough:
    """The game recorded in a file."""
    data: dict[str, Any] = json.loads(file.read_text())
    return Playthrough(
        data["game"],
        data["options"],
        data["seed"],
        Look(*data["start"]),
        tuple((name, Look(*look)) for name, *look in data["plies"]),
        tuple(data["returns"]),
    )


def files_of(name: str) -> list[Path]:
    """The playthroughs of a game."""
    return sorted((FOLDER / name).glob("*.json"))
