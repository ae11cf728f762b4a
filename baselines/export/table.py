"""Tables in files: written and read in batches of rows, so that any size takes little memory."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from azumaya.baselines.export.card import CARD, card_bytes
from azumaya.baselines.export.columns import Column, Table
from azumaya.baselines.system.files import check_folder, remove_partial, shown, written_aside
from azumaya.baselines.system.machine import version
from azumaya.envs import OptionError, Position
from azumaya.envs.extras import require

BATCH = 4096
"""The rows of a batch, which becomes a row group of the file."""
METADATA = b"azumaya"
"""The key of the file's metadata under which a JSON object says what the table is of."""


def check_output(output: Path, name: str) -> None:
    """Check, before any work, that a table of this name can be written to a folder.

    Raises:
        OptionError: the folder contains other files, or cannot be made.
        MissingExtraError: the extra `data` is not installed.
    """
    require("pyarrow", "data")
    argument = f"output {shown(output)}"
    check_folder(output.absolute(), argument)
    if not output.exists():
        return
    if not output.is_dir():
        raise OptionError(f"{argument}: is a file; name a folder")
    own = (f"{name}.parquet", CARD)
    remove_partial(output, own)
    others = sorted({path.name for path in output.iterdir()} - {*own})
    if others:
        raise OptionError(
            f"{argument}: has other files, such as {shown(others[0])}; name a new folder"
        )


def write_table(output: Path, table: Table, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write a table and its card to a folder that `check_output` has checked.

    On an error, a table that was there before is kept, and nothing new is left behind.

    Returns:
        The number of rows.

    Raises:
        OSError: a file cannot be written.
    """
    with (
        _folder(output),
        written_aside(output / table.file) as aside,
        written_aside(output / CARD) as card,
    ):
        count = _write_rows(aside, table, iter(rows))
        with aside.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        card.write_bytes(card_bytes(table, digest, aside.stat().st_size))
    return count


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Make a folder unless it is there; remove it again after an error."""
    made = not path.exists()
    path.mkdir(exist_ok=True)
    try:
        yield
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def _write_rows(path: Path, table: Table, rows: Iterator[Mapping[str, Any]]) -> int:
    arrow, parquet = require("pyarrow", "data"), require("pyarrow.parquet", "data")
    fields = [arrow.field(c.name, _type(arrow, c), nullable=c.nullable) for c in table.columns]
    schema, count = arrow.schema(fields), 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(itertools.islice(rows, BATCH)):
            writer.write_batch(arrow.RecordBatch.from_pylist(some, schema=schema))
            count += len(some)
        facts = {**table.facts, "azumaya": version()}  # some are known only now
        writer.add_key_value_metadata({METADATA: json.dumps(facts, sort_keys=True).encode()})
    return count


def _type(arrow: Any, column: Column) -> Any:
    """The type of a column in Arrow."""
    kind = arrow.type_for_alias(column.kind)
    return kind if column.length is None else arrow.list_(kind, column.length or -1)


# ---- reading ----


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
    facts = (file.metadata.metadata or {}).get(METADATA)
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
