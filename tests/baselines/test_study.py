"""Studies: several seeds of several variants of a training run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from azumaya.baselines.training import value
from azumaya.baselines.training.run_folder import RunError
from azumaya.benchmarks.studies import variants
from azumaya.benchmarks.studies.variants import Config, Results, run_study, spread, study_table
from azumaya.envs import OptionError

GAME = "vierer_dominari"
VARIANTS = ("lambda 0.5: --games 3 --decay 0.5",)


def small(folder: Path, **changes: object) -> Config:
    """A study of two runs that take a second each."""
    given = {
        "game": GAME, "variant": VARIANTS, "seeds": (1,), "steps": 128,
        "measurements": 1, "measure_starts": 1, "output": folder / "study", **changes,
    }  # fmt: skip
    return Config(**given)  # type: ignore[arg-type]


def test_a_study_trains_all_seeds_of_all_variants_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = small(tmp_path)
    commands = []
    run_words = value.run_words

    def stop_at_second(words: list[str]) -> int:
        commands.append(words)
        return 130 if len(commands) == 2 else run_words(words)

    monkeypatch.setattr(value, "run_words", stop_at_second)
    with pytest.raises(KeyboardInterrupt):
        run_study(config)
    found = run_study(config)
    assert len(commands) == 3  # the finished run is not repeated
    assert [results.name for results in found] == ["default", "lambda 0.5"]
    for results in found:
        assert len(results.curves) == 1
        for curve in results.curves:
            assert curve[0]["steps"] == 0
            assert curve[-1]["steps"] >= 128
            assert all(0 <= point[variants.EXAM] <= 1 for point in curve)
    assert (config.folder / "study.png").read_bytes().startswith(b"\x89PNG")
    stored = json.loads((config.folder / "study.json").read_text())
    assert stored == {results.name: results.curves for results in found}
    assert "1 seeds of 128 steps" in capsys.readouterr().out
    changed = json.loads((config.folder / "lambda-0.5-1/config.json").read_text())
    assert (changed["games"], changed["decay"]) == (3, 0.5)

    for changes in ({"steps": 129}, {"algorithm": "ppo"}):
        with pytest.raises(RunError, match="default-1: holds another run; choose another --output"):
            run_study(small(tmp_path, **changes))


def test_an_unfinished_run_of_other_options_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resumed, it would keep the options that its variant no longer has."""
    run_words, run = value.run_words, tmp_path / "study/a-1"
    config = small(tmp_path)
    many, few = (
        variants.words_of(config, GAME, 1, run, [f"--games={games}"]) for games in (12, 11)
    )

    def stopped(words: list[str]) -> int:
        assert run_words([*words, "--time=1ms"]) == 0
        return 130

    with monkeypatch.context() as patch:
        patch.setattr(value, "run_words", stopped)
        with pytest.raises(KeyboardInterrupt):
            variants.run_of("value", run, many)
    for other in (few, [word for word in many if word != "--games=12"]):
        with pytest.raises(RunError, match="a-1: holds another run; choose another --output"):
            variants.run_of("value", run, other)
    assert variants.run_of("value", run, many)[-1]["steps"] >= 128


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("name", ["policy.safetensors", "config.json"])
def test_a_folder_with_something_else_is_not_overwritten(
    name: str, begun: bool, tmp_path: Path
) -> None:
    """A trained agent whose save is missing, or what no study has begun."""
    run = tmp_path / "study/default-1"
    run.mkdir(parents=True)
    (run / name).write_text("{}")
    if begun:
        run.with_name("default-1.begun").write_text("[]")
    if begun and name == "config.json":  # of a run that was killed before its first save
        assert len(run_study(small(tmp_path, variant=(), seeds=(1,)))) == 1
        return
    with pytest.raises(RunError, match=r"default-1(: holds a run that no study| has no resume)"):
        run_study(small(tmp_path, variant=(), seeds=(1,)))
    assert [path.name for path in run.iterdir()] == [name]


def test_every_algorithm_has_a_folder_of_its_own() -> None:
    assert Config().folder == Path("runs/study-value-sudoku_moyo")
    other = Config(game="abalone", algorithm="ppo")
    assert other.folder == Path("runs/study-ppo-abalone")
    assert Config(output=Path("here")).folder == Path("here")


def test_a_game_has_one_folder_by_whatever_name(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = list[Path]()
    monkeypatch.setattr(variants, "run_of", lambda _, run, words: runs.append(run))
    monkeypatch.setattr(variants, "_report", lambda *_: None)
    run_study(Config(game="azumaya/abalone-v0", seeds=(1,)))
    assert runs == [Path("runs/study-value-abalone/default-1")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variant": ("small",)}, "'small': must be \"NAME: OPTIONS\""),
        ({"variant": ("default: --width 4",)}, 'must be "NAME: OPTIONS" with a new name'),
        ({"variant": ("a/b: --width 4",)}, "with a new name without /"),
        ({"variant": ("a b: --width 4", "a-b: --width 5")}, "'a-b: --width 5'"),
        ({"variant": ("a: --game 'x",)}, "No closing quotation"),
        ({"seeds": ()}, "--seeds: at least one seed"),
        ({"seeds": (1, 1)}, "each only once"),
        ({"algorithm": "reinforce"}, "--algorithm reinforce: must be one of value"),
        ({"steps": 0}, "--steps 0: must be a whole number from 1"),
        ({"game": "chess"}, "chess"),
    ],
)
def test_invalid_studies_are_refused(
    changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError) as refused:
        run_study(small(tmp_path, **changes))
    assert message in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_the_table_shows_the_mean_the_least_and_the_most() -> None:
    curves = [[{"steps": 1, "greedy": rate}] for rate in (0.2, 0.5, 0.8)]
    assert spread([0.2, 0.5, 0.8]) == "50.0% [20.0, 80.0]"
    table = study_table([Results("one", curves)], "title")
    assert [list(column.cells) for column in table.columns[1:]] == [
        ["50.0% [20.0, 80.0]"],
        ["-"],
    ]
