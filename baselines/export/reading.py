"""Reading the positions of exported tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from azumaya.baselines.export.table import METADATA
from azumaya.envs import OptionError, Position
from azumaya.envs.extras import require


def read_positions(path: str | Path) -> Iterator[Position]:
    """The positions of a table of `azumaya export`, one for each row.

    They are equal to those that were exported: all that the players see is the same.

    Args:
        path: `games.parquet` or `positions.parquet`.

    Raises:
        OptionError: the file is no such table.
        PositionError: a position is not one of the game.
        MissingExtraError: the extra `data` is not installed.
        OSError: the file cannot be read.
    """
    parquet = require("pyarrow.parquet", "data")
    try:
        file = parquet.ParquetFile(path)
    except ValueError as error:  # those of Arrow are
        raise OptionError(f"{path}: not a Parquet file: {error}") from error
    with file:
        facts = (file.schema_arrow.metadata or {}).get(METADATA)
        if facts is None:
            raise OptionError(f"{path}: not a table of azumaya export")
        about = json.loads(facts)
        for batch in file.iter_batches(columns=["position"]):
            for text in batch.column(0).to_pylist():
                yield Position.from_text(about["game"], text, **about["options"])
