"""Reports and pictures are made from any set of rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from azumaya.benchmarks import __main__ as command
from azumaya.benchmarks import plots, report, tables
from azumaya.benchmarks.results import Row, read_run
from azumaya.envs.game import Game

HEADER = {"machine": {"cpu": "abacus"}, "settings": "tiny"}
FAST = {"kind": "reference", "name": tables.CARTPOLE, "key": "r", "value": 2e5, "load": 1.0}


def bare(game: str, value: float, signature: str) -> Row:
    return {"kind": "bare", "key": game, "game": game, "value": value, "signature": signature}


def test_report_has_every_game_in_every_table(finished: Path, games: tuple[Game, ...]) -> None:
    text = report.render(*read_run(finished))
    for title in ("References", "Ratios", "Rates", "Batch sizes", "Matches", "Memory"):
        section = text.split(f"## {title}\n")[1].split("\n## ")[0]
        assert title == "References" or all(f"| {game.name} |" in section for game in games), title
    assert "differ" not in text


def test_ratios_use_the_references() -> None:
    text = report.render(HEADER, [FAST, {**FAST, "value": 4e5}, bare("go", 3e7, "ab")])
    assert "| go | 100 | – | – | – | – | – | `ab` |" in text
    assert "| go | 30 M | – | – | – | – | – |" in text
    assert "| CartPole-v1 | 300 k | 200 k to 400 k | 2 |" in text


def test_a_page_has_the_ratios_first_and_leaves_what_it_has_defined_to_the_report() -> None:
    rows = [FAST, bare("go", 3e7, "ab")]
    page = report.brief(HEADER, rows)
    assert page.startswith("# Speed\n\ncpu abacus.\n\n## Ratios\n\n| game | bare × CartPole |")
    assert "| go | 30 M |" in page
    assert "## References" not in page
    assert "Of memset: " in report.render(HEADER, rows)


def test_signatures_that_differ_are_shown() -> None:
    rows = [bare("go", 1e6, "ab"), {**bare("go", 1e6, "cd"), "key": "x"}]
    assert "**differ:** ab, cd" in report.render(HEADER, rows)


def test_missing_rows_are_marked() -> None:
    rows = [{"kind": "reference", "key": "r/x", "name": "x", "error": "no x: pip install x"}]
    assert "| r/x | no x: pip install x |" in report.render(HEADER, rows)


def test_the_share_of_a_memset_called_from_python_is_left_out_for_small_batches() -> None:
    """There the calls took most of the time; newer rows say that the loop was compiled."""
    batch = {"kind": "batch", "game": "go", "form": "planes", "threads": 1, "copies": False}
    rows = [
        {**batch, "key": str(size), "size": size, "value": size * 1e3, "memset": size * 2e3}
        for size in (64, 1024)
    ]
    assert "| go | 64 k | 1.02 M (0.5) |" in report.render(HEADER, rows)
    compiled = [{**row, "limits": "compiled"} for row in rows]
    assert "| go | 64 k (0.5) | 1.02 M (0.5) |" in report.render(HEADER, compiled)


def gpu_run() -> tuple[Row, list[Row]]:
    """A run on a GPU; its last row misses, and one signature is another."""
    machine = {"machine": {"gpu": "abacus"}, "settings": "cuda tiny"}
    batch = {"kind": "cuda batch", "game": "go", "form": "planes", "signature": "ab"}
    rows = [
        {**batch, "key": str(size), "size": size, "value": size * 1e3, "memset": size * 4e3}
        for size in (1024, 4096)
    ]
    rows += [{**rows[0], "key": "p", "form": "packed", "value": 5e6}]
    return machine, [{**bare("go", 2e9, "ab"), "kind": "cuda bare"}, *rows]


def test_a_run_on_a_gpu_has_a_line_for_each_game_and_form() -> None:
    header, rows = gpu_run()
    text = report.render(header, rows)
    assert "CPU time, on one core" not in text
    assert "| game | bare | 1,024 games | 4,096 games | of memset | signature |" in text
    assert "| go | 2 G | 1.02 M | 4.1 M | 0.25 | `ab` |" in text
    assert "| go | 2 G | 5 M | – | 1.22 | `ab` |" in text
    assert "**differ:** ab, cd" in report.render(
        header, [*rows[:-1], {**rows[-1], "signature": "cd"}]
    )


def test_a_run_on_a_gpu_has_a_picture_and_its_own_place_in_a_page(tmp_path: Path) -> None:
    header, rows = gpu_run()
    lines = [json.dumps(line) + "\n" for line in (header, *rows)]
    (tmp_path / "rows.jsonl").write_text("".join(lines))
    page = tmp_path / "pages" / "page.md"
    page.parent.mkdir()
    text = "\n".join(
        (*report.marks(report.BENCH), *report.marks(report.BENCH + report.ON_GPU), "end")
    )
    page.write_text(text)
    command.write_report(tmp_path, page)
    cpu, gpu = page.read_text().split(report.marks(report.BENCH + report.ON_GPU)[0])
    assert "go" not in cpu
    assert "| go | 2 G |" in gpu
    for folder in (tmp_path, page.parent):
        assert "memset" in (folder / plots.ON_GPU).read_text()


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (12.34, "12.3"), (102_345, "102 k"), (4.5e9, "4.5 G")]
)
def test_rates_have_three_digits(value: float | None, text: str) -> None:
    assert tables.rate(value) == text


def test_pictures(finished: Path, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    assert plots.draw(*read_run(finished), tmp_path) == [plots.BARS, plots.CURVES]
    plots.draw(*read_run(finished), tmp_path / "again")
    for name in (plots.BARS, plots.CURVES):
        drawn = (tmp_path / name).read_bytes()
        assert drawn.startswith(b"<?xml")
        assert (tmp_path / "again" / name).read_bytes() == drawn
    assert plots.draw(HEADER, [FAST], tmp_path / "none") == []


def test_a_page_keeps_its_other_text() -> None:
    begin, end = report.marks(report.BENCH)
    page = f"# Mine\n\nbefore\n\n{begin}\nold\n{end}\n\nafter\n"
    done = report.put_into(page, "# Speed\n\nnew\n", report.BENCH)
    assert done == f"# Mine\n\nbefore\n\n{begin}\n\nnew\n\n{end}\n\nafter\n"
    assert report.put_into(done, "# Speed\n\nnew\n", report.BENCH) == done
    parts = report.put_into(page, "# Speed\n\n## One\n\n## Two\n", report.BENCH)
    assert parts == done.replace("new", "### One\n\n### Two")
    with pytest.raises(ValueError, match="needs one line"):
        report.put_into(page, "# Speed\n", report.PEERS)
