"""The Croissant card of a table: what it is and what its columns contain, as JSON-LD."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from azumaya.baselines.export.columns import Column, Table
from azumaya.baselines.system.machine import version

CARD = "croissant.json"
FORMAT = "http://mlcommons.org/croissant/1.0"
_TERMS = """citeAs column equivalentProperty extract field fileObject fileProperty fileSet format
includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated
replace samplingRate separator source subField transform"""
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
"""The context of Croissant's own examples, in another order."""
KINDS = {"string": "sc:Text", "bool": "sc:Boolean", "float64": "sc:Float"}
"""Croissant's types by Arrow's; all others are whole numbers."""


def card_bytes(table: Table, digest: str, size: int) -> bytes:
    """The content of a table's card.

    Args:
        table: the table.
        digest: the SHA-256 of its file, in hexadecimal digits.
        size: the bytes of its file.
    """
    card = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": FORMAT,
        "name": f"{table.facts['game'].rpartition('/')[2]}-{table.name}",
        "description": f"{table.description} Made by azumaya {version()}.",
        **({"license": table.licence} if table.licence else {}),
        "distribution": [_file(table, digest, size)],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": table.name,
                "name": table.name,
                "field": [_field(table, column) for column in table.columns],
            }
        ],
    }
    return (json.dumps(card, indent=2) + "\n").encode()


def _file(table: Table, digest: str, size: int) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": table.file,
        "name": table.file,
        "contentUrl": table.file,
        "contentSize": f"{size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": digest,
    }


def _field(table: Table, column: Column) -> dict[str, Any]:
    repeated = {} if column.length is None else {"repeated": True}
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{column.name}",
        "name": column.name,
        "description": column.meaning,
        "dataType": KINDS.get(column.kind, "sc:Integer"),
        **repeated,
        "source": {"fileObject": {"@id": table.file}, "extract": {"column": column.name}},
    }
