"""A short look at the board in Chromium, if there is one; `make test-browser` plays whole games."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from azumaya.baselines.play.replay import replay_page
from azumaya.benchmarks.studies.gallery_maker import play

CHROMIUM = shutil.which("chromium")
CLICK = '<script type="module">document.querySelector("[aria-label=Forward]").click();</script>'


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_replay_is_drawn_and_steps(tmp_path: Path) -> None:
    """With a script that presses a button, which the page's own policy would not let run."""
    record = play("score_dominari", "greedy random", 1)
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", replay_page([record]))
    shown = _document(tmp_path, page.replace("</body>", f"{CLICK}</body>"))
    assert shown.count("<g data-cell=") == 36
    here = re.search(r'class="[^"]*azr-here[^"]*"[^>]*>([^<]*)<', shown)
    assert here
    assert here[1] == record.moves[0]


def _document(folder: Path, page: str) -> str:
    """The document of a page when its scripts have run."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    assert CHROMIUM is not None
    words = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}")
    done = subprocess.run(
        [CHROMIUM, *words, "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout
