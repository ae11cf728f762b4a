"""What `on_a_gpu.sh` leaves of a visit, with programs that only write files."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("on_a_gpu.sh")
PYTHON = """#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = --output ] && out=$2; shift; done
case "$out" in
*.svg) echo picture >"$out" ;;
?*) mkdir -p "$out" && echo "$AZUMAYA_GAMES" >>"$out/policy.json" && echo trained ;;
esac
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the script is for Linux")
def test_each_game_is_packed_and_gone_on_with(tmp_path: Path) -> None:
    programs, out = tmp_path / "bin", tmp_path / "out"
    programs.mkdir()
    for name, text in (("python3", PYTHON), ("nvidia-smi", "#!/bin/sh\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TMPDIR": str(tmp_path)}

    def run(*words: str) -> None:
        subprocess.run(["bash", SCRIPT, words[0], out, *words[1:]], env=environment, check=True)

    run("visit", "2", "one:lines", "one:board", "two")
    names = ["one-board.tar.aa", "one-lines.tar.aa", "two.tar.aa"]
    assert sorted(path.name for path in out.iterdir()) == names
    run("train", "one:lines", "3", "--resume")
    assert sorted(path.name for path in out.iterdir()) == names
    with tarfile.open(out / "one-lines.tar.aa") as packed:
        packed.extractall(tmp_path, filter="data")
    found = {path.name for path in (tmp_path / "one-lines").rglob("*")}
    assert found == {"log", "profile.md", "profile.svg", "run", "policy.json"}
    assert (tmp_path / "one-lines" / "run" / "policy.json").read_text().count("connect_four") == 2
