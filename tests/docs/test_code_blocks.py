"""The code of every page runs and prints what the page shows; its commands exist."""

from __future__ import annotations

import re
import shlex
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from azumaya.baselines.cli.app import app
from azumaya.baselines.cli.passed_on import script_words
from azumaya.baselines.system.command_line import read_options
from azumaya.baselines.training import alphazero, maskable_ppo, ppo, value
from azumaya.benchmarks.__main__ import app as bench
from azumaya.benchmarks.studies import gap, variants
from azumaya.envs import GAMES
from tests.commands import azumaya
from tests.docs.blocks import ROOT, blocks_of, fill, pages, run_page

SCRIPTS = (value, ppo, alphazero, maskable_ppo)
"""The training scripts."""
PAGES = pages()
PYTHON_PAGES = [
    p for p in PAGES if any(b.kind == "python" for b in blocks_of(p.read_text("utf-8")))
]


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


def commands() -> list[tuple[str, str]]:
    """Every command line in the shell blocks of the pages, with its page."""
    found = []
    for path in PAGES:
        for block in blocks_of(path.read_text("utf-8")):
            if block.kind in ("bash", "console") and not block.skipped:
                code = block.code.replace("\\\n", " ")
                lines = (line.removeprefix("$ ").strip() for line in code.splitlines())
                found += [(line, short(path)) for line in lines if line and line[0] != "#"]
    return found


COMMANDS = commands()


def test_a_comment_skips_the_block_after_it_and_no_other() -> None:
    skipped = "<!-- not run: why -->\n```python\nraise ValueError\n```\n"
    blocks = blocks_of(f"{skipped}\n```python\nlive\n```\n\n{skipped}")
    assert [block.skipped for block in blocks] == [True, False, True]


def test_blocks_in_lists_are_read_and_filled(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "- in a list\n\n  ```python\n  if True:\n      print('1\\n2')\n  ```\n\n"
        "  ```output\n  0\n  ```\n\n  <!-- not run: why -->\n  ```bash\n  ls\n  ```\n"
    )
    python, output, bash = blocks_of(page.read_text())
    assert (python.code, python.skipped) == ("if True:\n    print('1\\n2')\n", False)
    assert (output.code, bash.code, bash.skipped) == ("0\n", "ls\n", True)
    fill(page)
    assert "  ```output\n  1\n  2\n  ```\n" in page.read_text()


def test_all_code_is_read() -> None:
    """Fences are counted with a looser pattern, and none is of an unknown kind."""
    known = {"python", "output", "bash", "console", "text"}
    for path in PAGES:
        text = path.read_text("utf-8")
        fences = re.findall(r"^[ \t>]*(?:`{3,}|~{3,})(.*)$", text, re.MULTILINE)
        kinds = [kind.strip() for kind in fences[::2] if not kind.startswith("{")]
        assert set(kinds) <= known, short(path)
        read = [block.kind for block in blocks_of(text)]
        assert read == [kind for kind in kinds if kind != "text"], short(path)


@pytest.mark.parametrize("path", PYTHON_PAGES, ids=short)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(path: Path) -> None:
    for block, printed in run_page(path):
        assert printed == block.code, f"{short(path)}, line {block.line}"


def words_of(line: str) -> list[str]:
    """The words of a command, without environment variables and comments."""
    words = shlex.split(line, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    return words


def starting(*first: str) -> list[tuple[list[str], str]]:
    """The remaining words of the commands that begin with these; a program's path is ignored."""
    found = []
    for line, page in COMMANDS:
        words = words_of(line)
        if words:
            words[0] = Path(words[0]).name
        if tuple(words[: len(first)]) == first:
            found.append((words[len(first) :], page))
    return found


def test_every_command_is_of_a_known_kind() -> None:
    known = (
        "make",
        "azumaya",
        "python",
        "python3",
        "pytest",
        "export",
        "git",
        "ruff",
        "tensorboard",
        "pre-commit",
    )
    strange = [line for line, _ in COMMANDS if Path(words_of(line)[0]).name not in known]
    assert strange == []
    assert len(COMMANDS) > 20


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    asked = [(word, page) for words, page in starting("make") for word in words if "=" not in word]
    assert asked
    assert [wrong for wrong in asked if wrong[0] not in targets] == []


def test_what_make_train_passes_on_is_read_by_the_script() -> None:
    given = re.findall(r"^([A-Z]+) \?=", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    runs = [words for words, _ in starting("make") if "train" in words]
    assert runs
    for words in runs:
        settings = dict(word.split("=", 1) for word in words if "=" in word)
        assert settings.keys() <= set(given), words
        assert settings.get("GAME", "abalone") in GAMES, words
        name = settings.get("ALGORITHM", "value")
        script = import_module(f"azumaya.baselines.training.{name}")
        read_options(script.Config(), shlex.split(settings.get("RUN", "")), name, "")


shown_help = cache(lambda program, *names: azumaya(*names, "--help", program=program))
"""What a command says about itself; pages show many of them again and again."""


@pytest.mark.parametrize(("words", "page"), starting("azumaya"))
def test_azumaya_commands_and_their_options_exist(words: list[str], page: str) -> None:
    program, names = app, []
    if words[:1] == ["train"]:  # which would replace it by a script
        algorithm, words = script_words(words[1:])
        script = import_module(f"azumaya.baselines.training.{algorithm}")
        read_options(script.Config(), words, script.PROGRAM, "")
        return
    if words[:1] == ["bench"]:  # which would replace this process by the benchmarks
        program, words = bench, words[1:]
    for word in words:
        if not re.fullmatch(r"[a-z][a-z-]*", word):
            break
        names.append(word)
    result = None
    # words after the command's name are its arguments; `azumaya --version` has no command
    for end in range(len(names), 0, -1) or (0,):
        result = shown_help(program, *names[:end])
        if result.exit_code == 0:
            break
    assert result is not None
    assert result.exit_code == 0, f"{page}: azumaya {' '.join(words)}"
    shown = set(re.findall(r"--[a-z-]+", re.sub(r"\x1b\[[0-9;]*m", "", result.output)))
    options = [word.split("=")[0] for word in words if word.startswith("--")]
    assert [option for option in options if option not in shown] == [], page


@pytest.mark.parametrize("script", [*SCRIPTS, variants, gap])
def test_training_commands_are_read_by_the_script(script: Any) -> None:
    runs = starting("python", "-m", script.PROGRAM)
    assert runs
    for words, _ in runs:
        if words != ["--help"]:
            read_options(script.Config(), words, script.PROGRAM, "")


def test_modules_and_files_that_are_run_exist() -> None:
    for first in ("python", "python3"):
        for words, page in starting(first):
            if words[:1] == ["-m"]:
                folder = ROOT / words[1].removeprefix("azumaya.").replace(".", "/")
                places = (folder, folder.with_suffix(".py"), ROOT / "docs/_ext" / folder.name)
                ours = words[1].split(".")[0] in ("azumaya", "tests", "azumaya_docs")
                parts = ROOT / "docs/_ext" / Path(words[1].replace(".", "/")).with_suffix(".py")
                assert not ours or any(p.exists() for p in (*places, parts)), f"{page}: {words}"
            elif words and words[0].endswith(".py"):
                assert (ROOT / words[0]).exists(), f"{page}: {words}"
