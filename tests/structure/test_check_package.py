"""The check of the sdist and the wheels finds what it is there to find."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import check_wheel
from tests.check_package import ROOT, PackageError, beside_the_core, compare, tracked

pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="it asks git for the files")
DIST_INFO = {"azumaya-0.dist-info/RECORD": b""}


def whole() -> dict[str, bytes]:
    return dict.fromkeys(tracked(), b"") | DIST_INFO


def test_equal_wheels_with_every_tracked_file_pass() -> None:
    names = set(tracked())
    assert {"azumaya/__init__.py", "azumaya/envs/game.py", "azumaya_exam.py"} <= names
    assert "azumaya/baselines/arena/data/abalone.public.jsonl.gz" in names
    assert not any("results" in name for name in names if not name.endswith(".py"))
    compare(whole(), whole())


def test_wheels_that_differ_are_refused() -> None:
    for change in ({"azumaya/envs/game.py": b"x"}, {"azumaya/more.py": b""}):
        with pytest.raises(PackageError, match=r"alone, or unequal: .*\.py"):
            compare(whole(), whole() | change)


def test_a_missing_file_is_named() -> None:
    less = whole()
    del less["azumaya/envs/render/web/board.js"]
    with pytest.raises(PackageError, match=r"not in the wheel: \['azumaya/envs/render/web/board"):
        compare(less, dict(less))


def test_a_file_left_over_from_an_earlier_build_is_named() -> None:
    more = whole() | {"azumaya/envs/old_rules.py": b""}
    with pytest.raises(PackageError, match=r"not tracked: \['azumaya/envs/old_rules"):
        compare(more, dict(more))


def test_a_build_begins_without_what_an_earlier_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "build" / "lib" / "azumaya" / "old_rules.py"
    left.parent.mkdir(parents=True)
    left.touch()
    monkeypatch.setattr(check_wheel, "ROOT", tmp_path)
    there: list[bool] = []
    monkeypatch.setattr(check_wheel, "run", lambda *_: there.append(left.exists()))
    check_wheel.build("wheel", tmp_path / "out")
    assert there == [False]


def test_packages_beside_the_core_are_named() -> None:
    plain = ["azumaya", "Farama-Notifications", "typing_extensions", "numpy", "pip"]
    assert beside_the_core(plain) == []
    assert beside_the_core([*plain, "Tyro", "anywidget"]) == ["anywidget", "tyro"]
