"""The names of optional packages and the install commands in errors match `pyproject.toml`."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import azumaya.envs
from azumaya.envs.extras import MissingExtraError, distribution_of, how_to_install, require
from tests.library import ROOT

SOURCES = Path(azumaya.envs.__file__).parents[1]
"""What is tested, which can be a copy of the library outside of the repository."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def installed_by(extra: str) -> set[str]:
    """The packages that an extra installs, directly or through other extras."""
    found: set[str] = set()
    for wanted in PROJECT["optional-dependencies"][extra]:
        name, extras = re.match(r"([\w-]+)(?:\[(.*?)\])?", wanted).groups()  # type: ignore[union-attr]
        if name == PROJECT["name"]:
            found = found.union(*map(installed_by, extras.split(",")))
        else:
            found.add(name)
    return found


def required() -> Iterator[tuple[str, str]]:
    """The module and the extra of every call of `require` in the library."""
    for folder in ("envs", "wrappers", "baselines", "benchmarks"):
        for file in (SOURCES / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require":
                    given = [*node.args, *(keyword.value for keyword in node.keywords)]
                    values = [each.value for each in given if isinstance(each, ast.Constant)]
                    if len(values) == 2:
                        yield values[0], values[1]


def test_every_required_package_is_installed_by_its_extra() -> None:
    """The error names the package as pip does, and the extra installs it."""
    pairs = set(required())
    assert {extra for _, extra in pairs} >= {"cli", "records", "render", "train", "cuda"}
    for module, extra in pairs:
        assert distribution_of(module) in installed_by(extra), (module, extra)


@pytest.mark.parametrize(
    ("module", "extra", "package", "command"),
    [
        ("PIL.Image", "render", "pillow", 'pip install -c constraints.txt -e ".[render]"'),
        (
            "stable_baselines3.common.vec_env",
            "train",
            "stable-baselines3",
            'pip install -c constraints.txt -e ".[train]"',
        ),
        ("torch", "cuda", "torch", 'pip install -e ".[cuda]"'),
    ],
)
def test_the_error_for_a_missing_package_says_how_to_install_it(
    module: str, extra: str, package: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command works in a clone, as the package is in no index."""
    monkeypatch.setitem(sys.modules, module.partition(".")[0], None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as raised:
        require(module, extra)
    assert f"{package!r}, which is not installed; in a clone" in str(raised.value)
    assert str(raised.value).endswith(command)
    assert how_to_install(extra) == command
