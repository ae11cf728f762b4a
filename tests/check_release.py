"""A dry run of a release: all that an index, an installer and a user see, and nothing is uploaded.

    python -m tests.check_release

The sdist and the wheel are built and compared as by `tests.check_package`. `twine` and
`check-wheel-contents` must have nothing to say of them, they must stay below `MOST_MIB`, and the
links of the metadata must be whole. The wheel is installed by pip and, if it is there, by uv, each
in an empty environment, in which a game is played from the command line. Last, the address of the
repository must be set, in `AZUMAYA_REPOSITORY`: the tree does not know it, and without it the
README's links are dead on an index.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import venv
from email.message import Message
from email.parser import Parser
from pathlib import Path
from urllib.parse import urlsplit

from tests.check_package import PackageError, build_both_ways, contents
from tests.check_wheel import ROOT, run

MOST_MIB = 8
"""Most of it are exams, books and the champions' weights."""
TOOLS = ("twine>=6.1", "check-wheel-contents>=0.6")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
PINS = ("-c", ROOT / "constraints.txt")
GAME = (
    "play", "--game", "vierer_dominari", "--first", "random", "--second", "greedy", "--seed", "1",
)  # fmt: skip


def check_sizes(files: list[Path]) -> None:
    """Print the sizes; raises `PackageError` if one is too large."""
    for file in files:
        size = file.stat().st_size / 2**20
        print(f"{file.name}: {size:.2f} MiB of at most {MOST_MIB}")
        if size > MOST_MIB:
            raise PackageError(f"{file.name}: {size:.2f} MiB, more than {MOST_MIB}")


def metadata(wheel: Path) -> Message:
    """The metadata of a wheel."""
    files = contents(wheel)
    (name,) = (name for name in files if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(files[name].decode())


def missing_address(about: Message) -> str:
    """What is dead on an index because the address of the repository is not set; "" if it is."""
    if about.get_all("Project-URL"):
        return ""
    links = LINK.findall(str(about.get_payload()))
    inside = sum(not urlsplit(one or other).scheme for one, other in links)
    return (
        f"the address of the repository is missing: the package has no URL, and {inside} links of "
        "the README are dead on an index. Set it: AZUMAYA_REPOSITORY=https://HOST/OWNER/NAME"
    )


def wrong_links(about: Message) -> list[str]:
    """The links of metadata that lead nowhere; those within the repository are looked up here."""
    wrong = []
    for line in about.get_all("Project-URL") or ():
        label, _, url = line.partition(", ")
        if not label or urlsplit(url).scheme != "https" or not urlsplit(url).netloc:
            wrong.append(line)
    for found in LINK.finditer(str(about.get_payload())):
        parts = urlsplit(found[1] or found[2])
        if parts.scheme:
            wrong += [] if parts.scheme == "https" and parts.netloc else [parts.geturl()]
        elif parts.path:
            wrong += [] if (ROOT / parts.path).exists() else [parts.path]
    return wrong


def check_with_tools(files: list[Path], place: Path) -> None:
    """Check with `twine` and `check-wheel-contents`, installed beside nothing else."""
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", *TOOLS)
    run(python, "-m", "twine", "check", "--strict", *files)
    wheels = [file for file in files if file.suffix == ".whl"]
    run(python, "-m", "check_wheel_contents", "--config", ROOT / "pyproject.toml", *wheels)


def play_installed(wheel: Path, place: Path, uv: str | None = None) -> None:
    """Install the wheel with the extra `cli` in an empty environment, and play a game there."""
    wanted = (*PINS, f"{wheel}[cli]")
    python = place / "bin" / "python"
    if uv is None:
        venv.create(place, with_pip=True)
        run(python, "-m", "pip", "install", "-q", *wanted)
    else:
        run(uv, "venv", "-q", "--python", sys.executable, place)
        run(uv, "pip", "install", "-q", "--python", python, *wanted)
    run(place / "bin" / "azumaya", *GAME, cwd=place)


def main() -> int:
    """Run all of it; returns 1 if something is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            wheel = build_both_ways(scratch)
            files = [wheel, *(scratch / "tree").glob("*.tar.gz")]
            check_sizes(files)
            about = metadata(wheel)
            if wrong := wrong_links(about):
                raise PackageError(f"links that lead nowhere: {wrong}")
            check_with_tools(files, scratch / "tools")
            play_installed(wheel, scratch / "pip")
            if uv := shutil.which("uv"):
                play_installed(wheel, scratch / "uv", uv)
            else:
                print("uv is not installed: not tried")
            if missing := missing_address(about):
                raise PackageError(missing)
        except (PackageError, subprocess.CalledProcessError) as error:
            print(error)
            return 1
    print("the release builds, is checked, installs and plays; nothing was uploaded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
