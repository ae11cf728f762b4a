"""Every module of values can be the first that a program imports."""

from __future__ import annotations

import pytest

from tests.processes import python


@pytest.mark.parametrize("module", ["values.value", "values.champion", "values.self_play"])
def test_a_module_can_be_imported_first(module: str) -> None:
    """Search finds its agents by name only when asked, so no import comes back to its beginning."""
    done = python("-c", f"import azumaya.baselines.{module}")
    assert done.returncode == 0, done.stderr
