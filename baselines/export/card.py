"""The Croissant card of a table: what it is and what its columns contain, as JSON-LD."""

from __future__ import annotations

import json
from typing import Any

from azumaya.baselines.export.columns import Column, Table
from azumaya.baselines.system.machine import version

CARD = "croissant.json"
FORMAT = "http://mlcommons.org/croissant/1.0"
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context of Croissant's own examples, word for word."""
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
