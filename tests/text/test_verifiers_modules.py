"""The modules by whose names verifiers finds the environments.

verifiers itself is not among the packages of the tests, so a stand-in takes the place of the module
that needs it. `make test-integrations` runs the real one.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from azumaya.baselines import text

SOURCES = Path(__file__).parents[2] / "src"
NAMES = ("ChatHarness", "ExamEnv", "ExamTaskset", "GameEnv", "GameTaskset")


@pytest.mark.parametrize("kind", ["game", "exam"])
def test_a_module_loads_the_environment_that_it_is_named_after(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_environment(kind: str = "game", **settings: Any) -> tuple[str, dict[str, Any]]:
        return kind, settings

    stand_in = ModuleType("azumaya.baselines.text.verifiers")
    vars(stand_in).update(dict.fromkeys(NAMES), load_environment=load_environment)
    monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    monkeypatch.setattr(text, "verifiers", stand_in, raising=False)
    module = runpy.run_path(str(SOURCES / f"azumaya_{kind}.py"))
    assert module["load_environment"](game="abalone") == (kind, {"game": "abalone"})
    assert set(module["__all__"]) <= module.keys()
