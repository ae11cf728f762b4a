"""Reading exported tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from azumaya.baselines.export.table import METADATA
from azumaya.envs import OptionError, Position
from azumaya.envs.extras import require


def open_table(path: str | Path) -> tuple[Any, dict[str, Any]]:
    """A table of `azumaya export` and what its metadata say; errors as for `read_positions`.

    Returns:
        A `pyarrow.parquet.ParquetFile`, to be closed, and the JSON object of the metadata.
    """
    parquet = require("pyarrow.parquet", "data")
    try:
        file = parquet.ParquetFile(path)
    except ValueError as error:  # those of Arrow are
        raise OptionError(f"{path}: not a Parquet file: {error}") from error
    facts = (file.schema_arrow.metadata or {}).get(METADATA)
    if facts is None:
        file.close()
        raise OptionError(f"{path}: not a table of azumaya export")
    return file, json.loads(facts)


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
    file, about = open_table(path)
    with file:
        for batch in file.iter_batches(columns=["position"]):
            for text in batch.column(0).to_pylist():
                yield Position.from_text(about["game"], text, **about["options"])
