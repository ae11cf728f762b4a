"""Imports, including those inside functions, only point down; games use no framework."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.library import ROOT

FOLDERS = ("envs", "wrappers", "baselines", "benchmarks")

TIERS = (
    r"envs\.(errors|text|extras|whole)",
    r"envs\.kernels(\.\w+)?",
    r"envs\.geometry(\.\w+)?",
    r"envs\.puzzles(\.\w+)?",
    r"envs\.(scene|symmetries|lesson|game)",
    r"envs\.games(\.\w+)*",
    r"envs\.registry",
    r"envs\.render(\.\w+)?",
    r"envs\.(setup|observation|position|notation|playstrategy)",
    r"envs\.adapters(\.(copying|spaces|lookahead|torch_unpack))?",
    r"envs\.engine(\.\w+)?",
    r"envs\.adapters\.batch(\.\w+)?",
    r"envs\.adapters\.(aec|duel|cuda)(\.\w+)?",
    r"envs\.adapters\.devices",
    r"envs|envs\.\w+_v\d+",
    r"baselines\.system(\.\w+)?",
    r"wrappers(\.\w+)?",
    r"baselines\.search(\.\w+)+",
    r"baselines\.(values|agents)(\.\w+)?",
    r"baselines\.arena(\.\w+)*",
    r"baselines(\.search)?",
    r"baselines\.(course|export|integrations|text|training)(\.\w+)?",
    r"baselines\.protocol(\.\w+)?",
    r"baselines\.play(\.\w+)*",
    r"baselines\.classroom(\.\w+)?",
    r"baselines\.cli(\.\w+)?",
    r"benchmarks(\.\w+)*",
)
"""A module may import from its own tier and from earlier ones in this list. Pictures are drawn from
a `Scene`, which is data; so `render` comes before `position`, which can draw itself. Search knows
no values and no agents; only the package itself offers the agents that build on it, too, as
`baselines` offers what is most used. Programs are at the end: commands, then benchmarks and
studies."""

HOST_FILES = re.compile(
    r"envs\.games\.(digits|\w+\.(text|game|lesson)|_\w+\.(words|texts|options|starts|territory))"
)
"""Files of games with code that runs only on the host: texts, options, records. The other files of
a family contain the board and the rules."""
HOST_ONLY = re.compile(r"envs\.(text|scene|lesson|errors|setup|puzzles(\.\w+)?)")
"""Modules that only host files may import."""
FAMILIES = sorted(f.parent.name for f in (ROOT / "envs/games").glob("*/__init__.py"))

FRAMEWORKS = {"gymnasium", "pettingzoo", "torch", "matplotlib", "stable_baselines3", "sb3_contrib"}
GAMES_TIER = 5
NOT_ON_WINDOWS = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}


def files() -> list[Path]:
    """Every Python file of the library."""
    return sorted(f for folder in FOLDERS for f in (ROOT / folder).rglob("*.py"))


def module_of(file: Path) -> str:
    """`envs/games/x.py` is `envs.games.x`, and `envs/__init__.py` is `envs`."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tier_of(module: str) -> int:
    """The tier of a module."""
    for tier, pattern in enumerate(TIERS):
        if re.fullmatch(pattern, module):
            return tier
    raise LookupError(f"{module}: not in TIERS of {Path(__file__).name}; add it there")


def imports_of(file: Path) -> set[str]:
    """The full names of all modules that a file imports, at its top or inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import; use an absolute one"
            found |= {full_name(node.module or "", alias.name) for alias in node.names}
    return found


def full_name(module: str, name: str) -> str:
    """The module imported by `from package import module` or `from module import name`."""
    path = ROOT.joinpath(*module.removeprefix("azumaya.").split("."), name)
    ours = module.startswith("azumaya.")
    if ours and (path.with_suffix(".py").exists() or (path / "__init__.py").exists()):
        return f"{module}.{name}"
    return module


def own_imports(file: Path) -> set[str]:
    """The modules of the library that a file imports, without `azumaya.`."""
    return {
        name.removeprefix("azumaya.") for name in imports_of(file) if name.startswith("azumaya.")
    }


def test_imports_point_down() -> None:
    for file in files():
        here = tier_of(module_of(file))
        wrong = sorted(name for name in own_imports(file) if tier_of(name) > here)
        assert wrong == [], f"{module_of(file)} imports from above it"


def test_nothing_lies_loose_in_the_baselines() -> None:
    """Every module is in a room."""
    assert [file.name for file in (ROOT / "baselines").glob("*.py")] == ["__init__.py"]


def test_what_windows_lacks_is_imported_by_the_functions_that_need_it() -> None:
    """Otherwise no command runs there, whatever it does: each imports the modules of all."""
    for file in files():
        at_the_top = {
            alias.name
            for node in ast.parse(file.read_text(), str(file)).body
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert not at_the_top & NOT_ON_WINDOWS, module_of(file)


def test_no_circles() -> None:
    """Imports form no circle, not even within a tier or inside functions."""
    assert circle_in({module_of(file): own_imports(file) for file in files()}) == []


def folder_of(module: str) -> str:
    """The folder of an adapter module, or the module itself if it is in no folder."""
    parts = module.removeprefix("envs.adapters.").split(".")
    return parts[0]


def folders_of(needs: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The imports between the folders of the adapters."""
    inside = {name: wanted for name, wanted in needs.items() if name.startswith("envs.adapters.")}
    found: dict[str, set[str]] = {folder_of(name): set() for name in inside}
    for name, wanted in inside.items():
        found[folder_of(name)] |= {folder_of(each) for each in wanted if each in inside}
    return found


def test_folders_of_adapters_go_round_in_no_circle() -> None:
    """Folders could form a circle even if modules do not; imports inside functions count."""
    needs = {module_of(file): own_imports(file) for file in files()}
    assert circle_in(folders_of(needs)) == []


def test_every_tier_has_a_module() -> None:
    """A pattern that matches no module is a leftover."""
    used = {tier_of(module_of(file)) for file in files()}
    assert used == set(range(len(TIERS)))


def circle_in(needs: Mapping[str, set[str]]) -> list[str]:
    """The modules of an import circle and those that import them; empty if there is no circle.

    A package counts as imported only by modules that import names from its `__init__.py`.
    """
    waiting = {name: wanted - {name} for name, wanted in needs.items()}
    while waiting:
        free = {name for name, wanted in waiting.items() if not wanted & waiting.keys()}
        if not free:
            return sorted(waiting)
        waiting = {name: wanted for name, wanted in waiting.items() if name not in free}
    return []


def test_games_know_no_framework() -> None:
    """No module up to the tier of the games imports an environment or drawing framework."""
    for file in files():
        if tier_of(module_of(file)) <= GAMES_TIER:
            packages = {name.partition(".")[0] for name in imports_of(file)}
            assert not packages & FRAMEWORKS, module_of(file)


def host_imports(file: Path) -> list[str]:
    """The imports of a rules file, also inside functions, that only host files may have."""
    return sorted(
        name
        for name in own_imports(file)
        if HOST_FILES.fullmatch(name) or HOST_ONLY.fullmatch(name)
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_rules_import_nothing_of_the_host(family: str) -> None:
    """Words import rules, never the other way round; host files contain no kernels."""
    for file in sorted((ROOT / "envs/games" / family).glob("*.py")):
        module = module_of(file)
        if HOST_FILES.fullmatch(module):
            assert not has_kernels(file), f"{module} is a file of the host"
        else:
            assert host_imports(file) == [], f"{module} is a file of the rules"
    assert not has_kernels(ROOT / "envs/games" / family / "board.py")


@pytest.mark.parametrize("game", [name for name in FAMILIES if not name.startswith("_")])
def test_every_game_has_the_same_rooms(game: str) -> None:
    rooms = {file.stem for file in (ROOT / "envs/games" / game).glob("*.py")}
    assert rooms - {"lesson"} == {"__init__", "board", "rules", "text", "game"}


def has_kernels(file: Path) -> bool:
    """Whether a file defines kernels."""
    return re.search(r"^@kernel\b", file.read_text(), re.MULTILINE) is not None


def test_only_the_compile_modules_know_numbas_jit() -> None:
    """All other modules make kernels with the `kernel` decorator."""
    for file in files():
        module = module_of(file)
        if module.startswith("envs.") and not module.startswith("envs.kernels."):
            source = file.read_text()
            assert not re.search(r"@(numba\.)?n?jit\b|@vectorize", source), module


def test_intrinsics_are_in_the_folder_that_the_key_of_the_cache_covers() -> None:
    """Elsewhere an edit of one would leave kernels that were compiled before in use."""
    for file in files():
        module = module_of(file)
        if not module.startswith(("envs.kernels.", "envs.adapters.cuda.")):
            assert not re.search(r"@(intrinsic|overload|lower_builtin)\b", file.read_text()), module
