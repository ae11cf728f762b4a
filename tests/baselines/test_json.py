"""What is read as JSON, from files and from requests."""

from __future__ import annotations

import json

import pytest

from azumaya.baselines.system.files import MOST_NESTING, UnusableFileError, parse_json

DEEP = "[" * 200_000 + '""' + "]" * 200_000


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32"])
def test_json_in_another_encoding_is_refused(encoding: str) -> None:
    """In UTF-16 a byte of a character may look like a quotation mark, which would hide nesting."""
    with pytest.raises(UnusableFileError, match="not JSON"):
        parse_json(f'["\u2200",{DEEP}]'.encode(encoding))


@pytest.mark.parametrize(
    "text",
    [DEEP, f'["\\"", {DEEP}]', f'["\\\\", {DEEP}]', f'{{"[": {DEEP}}}', f'["\u2200", {DEEP}]'],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(UnusableFileError, match=f"more than {MOST_NESTING} levels deep"):
        parse_json(text.encode())


def test_brackets_in_strings_are_no_nesting() -> None:
    found = [[[" [[ ", '"[', "\\"], {"[{" * 100: "]}" * 100}], "\u2200"]
    assert parse_json(json.dumps(found).encode()) == found
    assert parse_json(json.dumps(found, ensure_ascii=False).encode("utf-8-sig")) == found


def test_as_many_levels_as_are_allowed() -> None:
    assert parse_json(b"[" * MOST_NESTING + b"]" * MOST_NESTING)
    with pytest.raises(UnusableFileError, match="levels deep"):
        parse_json(b"[" * (MOST_NESTING + 1) + b"]" * (MOST_NESTING + 1))


@pytest.mark.parametrize("text", ['"' + '\\"' * 200_000, '["' + "\\\\" * 200_000, '"' * 200_001])
def test_a_string_without_an_end_is_read_once(text: str) -> None:
    """Looking for its end from each of its quotation marks would take minutes."""
    with pytest.raises(UnusableFileError, match="not JSON"):
        parse_json(text.encode())
