"""Tables and their columns, and those columns that say what the player to move sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from azumaya.envs import Position
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.observation import packed_observation


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: its name.
        kind: the type of its values, as Arrow calls it: `int32`, `string`.
        meaning: what it contains, for the card.
        length: None for one value in a row, 0 for a list of any length, otherwise the length of
            every list.
        nullable: whether values may be missing.
    """

    name: str
    kind: str
    meaning: str
    length: int | None = None
    nullable: bool = False


@dataclass(frozen=True)
class Table:
    """What a table is, without its rows.

    Attributes:
        name: what each row is one of, in the plural; the file is `NAME.parquet`.
        description: a sentence for the card.
        columns: its columns.
        facts: JSON values that its metadata contain, besides the version of azumaya; as they are
            once all rows are written.
        licence: the address of its licence; empty if that is for whoever makes it to say.
    """

    name: str
    description: str
    columns: tuple[Column, ...]
    facts: Mapping[str, Any]
    licence: str = ""

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.parquet"


POSITION_COLUMNS = (
    Column("position", "string", "The position text, which Position.from_text reads."),
    Column("mover", "int8", "The player to move: 0 or 1."),
)
"""The columns that every table has, before those of `seen_columns`."""


def seen_columns(position: Position, planes: bool) -> tuple[Column, ...]:
    """The columns of what the player to move sees and may do.

    Args:
        position: any position of the table.
        planes: whether observations and masks are unpacked.
    """
    view, actions = position.game.observation, position.num_actions
    rows, columns = view.shape
    if planes:
        return (
            Column(
                "observation", "int8",
                f"What the mover sees: {len(view.planes)} planes of {rows} x {columns} cells, "
                "flattened in this order.", len(view.planes) * view.cells,
            ),
            Column("action_mask", "int8", "By action: 1 if it is legal, else 0.", actions),
        )  # fmt: skip
    return (
        Column("observation", "uint64", "What the mover sees, packed.", view.packed_words),
        Column(
            "action_mask", "uint64", "Legal actions: action a is bit a % 64 of word a // 64.",
            word_count(actions),
        ),
    )  # fmt: skip


def seen(position: Position, planes: bool) -> dict[str, Any]:
    """The values of `POSITION_COLUMNS` and `seen_columns` for a position."""
    mover = position.to_move
    if planes:
        observation, mask = position.observation(mover).ravel(), position.action_mask()
    else:
        observation = packed_observation(position.game, position.state[0], mover)
        mask = position.legal_words()
    return {
        "position": str(position), "mover": mover, "observation": observation, "action_mask": mask,
    }  # fmt: skip


def facts(position: Position, planes: bool) -> dict[str, Any]:
    """What the metadata of a table say of its game, besides the options."""
    view = position.game.observation
    return {
        "game": position.game.id,
        "num_actions": position.num_actions,
        "observation": [len(view.planes), *view.shape],
        "planes": planes,
    }
