"""The runner of other libraries' examples, tested with its own scripts; pins; the page."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from tests.integrations.catalogue import CORE, LIBRARIES, ROOT, SCRIPTS, dependencies

PAGE = (ROOT / "docs" / "guides" / "with-other-libraries.md").read_text("utf-8")
OLDEST = ROOT / "tests" / "integrations" / "oldest.txt"
EXACT = re.compile(r"[a-z0-9_-]+(\[[a-z]+\])?==[0-9.]+")
WITHOUT_REGISTRY = """
import sys
import pettingzoo, gymnasium
sys.modules["pettingzoo.env_registry.registration"] = None  # as where there is no such module
import azumaya.envs
azumaya.envs.make("abalone").reset(seed=1)
assert "azumaya/abalone-v0" in gymnasium.registry
"""


# ---- pins ----


def test_every_library_is_pinned_and_every_script_belongs_to_one() -> None:
    assert {each.script for each in LIBRARIES.values()} == {
        path.name for path in SCRIPTS.glob("*.py")
    }
    for each in LIBRARIES.values():
        assert all(EXACT.fullmatch(pin) for pin in each.pins), each.name
        ours = dependencies()
        assert each.environment().packages[2 : 2 + len(ours)] == ours


def test_the_oldest_pins_are_the_bounds() -> None:
    lines = OLDEST.read_text("utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    bounds = dict(each.split(">=") for each in dependencies() if ";" not in each)
    assert tuple(bounds) == tuple(pins) == CORE
    for name, pin in pins.items():
        assert pin.removesuffix(".0") == bounds[name].removesuffix(".0"), name


def test_the_environments_need_no_registry_of_pettingzoo() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_REGISTRY], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# ---- the page ----


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_page_shows_each_library_with_its_version_and_script(name: str) -> None:
    library = LIBRARIES[name]
    row = f"| {library.title} | {library.version} | {library.adapter} | {library.shows} |"
    assert row in PAGE.splitlines()
    assert f"tests/integrations/scripts/{library.script}\n" in PAGE
    assert f"\n## {library.title}\n" in PAGE
    assert all(pin in PAGE for pin in library.environment().first + library.pins)


def test_the_page_names_the_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for each in project["dependencies"]:
        requirement, _, newer = each.partition(";")
        name, bound = requirement.split(">=")
        rest = rf".*needs {re.escape(bound)}\b" if newer else rf"{re.escape(bound)} \|"
        assert re.search(rf"^\| {name} \| {rest}", PAGE, re.MULTILINE), each
