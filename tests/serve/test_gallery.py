"""The gallery: its games as they come with the package, and on the server."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from starlette.testclient import TestClient

from azumaya.baselines.play import gallery
from azumaya.baselines.play.gallery import Exhibit, gallery_line, read_gallery, turns
from azumaya.baselines.play.server.exhibits import described
from azumaya.baselines.play.server.store import Store
from azumaya.baselines.play.server.workers import Workers
from azumaya.benchmarks.studies import gallery_maker
from azumaya.benchmarks.studies.gallery_maker import best_of, main, play, table_of
from azumaya.envs import GAMES, OptionError
from azumaya.envs.errors import RecordError
from azumaya.envs.notation import GameRecord, write_records
from tests.cases import COMPLETE
from tests.commands import azumaya, refused
from tests.serve.requests import visitor


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    state = tmp_path_factory.mktemp("gallery") / "games.sqlite3"
    with visitor(Store(state)) as made:
        yield made


@pytest.fixture(scope="module")
def record() -> GameRecord:
    """A finished game."""
    return play("score_dominari", "greedy random", 1)


def test_the_package_has_whole_games_of_every_kind() -> None:
    """Each follows the rules, ends, and names its players and its date; all of it is small."""
    exhibits = read_gallery()
    assert set(COMPLETE) <= {each.end.game.name for each in exhibits} <= set(GAMES)
    for each in exhibits:
        assert each.end.is_over
        assert all(each.record.players)
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", each.record.date)
        assert len(each.values) == len(each.record.moves) + 1
        assert each.values[-1] == each.record.returns[0]
        assert "According to the search" in each.story
    assert sum(len(gallery_line(each)) for each in exhibits) < 100_000


def test_a_line_is_read_as_it_was_written(record: GameRecord, tmp_path: Path) -> None:
    """Also with the byte order mark and the line ends of editors on Windows."""
    assert record.players == ("greedy", "random")
    whole = Exhibit(record, tuple(float(n % 3 - 1) for n in range(len(record.moves) + 1)))
    file = tmp_path / "games.jsonl"
    lines = gallery_line(whole), "", record.to_json()
    file.write_bytes(codecs.BOM_UTF8 + "\r\n".join(lines).encode())
    assert read_gallery(file) == [whole, Exhibit(record)]
    assert "the search" not in read_gallery(file)[1].story


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0.0, 0.0), "neither side ever led."),
        ((0.0, 1.0), "the lead never changed."),
        ((1.0, -1.0, -1.0), "the lead changed once, at move 1."),
        ((1.0, -1.0, 1.0), "the lead changed 2 times, for the last time at move 2."),
    ],
)
def test_a_story_says_how_often_the_lead_changed(
    record: GameRecord, values: tuple[float, ...], said: str
) -> None:
    assert Exhibit(record, values).story.endswith(f"According to the search, {said}")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 1"),
        ("[]", "line 1"),
        ('{"record": {}}', "line 1: Object missing required field `environment`"),
        ("FEWER VALUES", "line 1: values: one for each position"),
        ("AN ILLEGAL MOVE", "line 1"),
    ],
)
def test_what_is_no_gallery(record: GameRecord, tmp_path: Path, line: str, words: str) -> None:
    first = record.moves[0]
    texts = {
        "FEWER VALUES": gallery_line(Exhibit(record, (1.0,))),
        "AN ILLEGAL MOVE": replace(record, moves=(first, first)).to_json(),
    }
    file = tmp_path / "games.jsonl"
    file.write_text(texts.get(line, line))
    with pytest.raises(RecordError, match=words):
        read_gallery(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_only_files_of_some_size_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no end would be read until there is no memory, or waited for."""
    file = tmp_path / "games.jsonl"
    os.mkfifo(file)
    for special in (file, Path("/dev/zero")):
        with pytest.raises(RecordError, match=f"^{special}: not a regular file"):
            read_gallery(special)
    monkeypatch.setattr(gallery, "LARGEST", 999)
    with pytest.raises(RecordError, match=r"gallery\.jsonl: larger than 999 bytes"):
        read_gallery(gallery.PACKAGED)
    words = ("serve", "--no-browser", "--port", 0, "--state", tmp_path / "games.sqlite3")
    refused(azumaya(*words, "--gallery", file), "games.jsonl: not a regular file")


def make(output: Path, *pairings: str, game: str = "score_dominari") -> None:
    main(output, list(pairings), [game], candidates=1, values=1, seed=0)


def test_a_pairing_without_a_finished_game_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, whole = tmp_path / "games.jsonl", gallery_maker.play

    def shortened(game: str, pairing: str, seed: int) -> GameRecord:
        with monkeypatch.context() as patch:
            patch.setattr(gallery_maker, "MOST_PLIES", 300 if pairing == "greedy random" else 3)
            return whole(game, pairing, seed)

    monkeypatch.setattr(gallery_maker, "play", shortened)
    make(file, "random random", "greedy random")
    assert [each.record.players for each in read_gallery(file)] == [("greedy", "random")]
    assert "random random: no game finished" in " ".join(capsys.readouterr().err.split())
    assert best_of("score_dominari", "random random", [0, 1], 1) is None
    before = file.read_bytes()
    with pytest.raises(typer.Exit):
        make(file, "random random")
    assert file.read_bytes() == before


def test_a_run_that_is_stopped_keeps_the_games_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, whole = tmp_path / "games.jsonl", gallery_maker.play

    def stopped(game: str, pairing: str, seed: int) -> GameRecord:
        if pairing == "random random":
            raise KeyboardInterrupt
        return whole(game, pairing, seed)

    monkeypatch.setattr(gallery_maker, "play", stopped)
    with pytest.raises(KeyboardInterrupt):
        make(file, "greedy random", "random random")
    assert len(read_gallery(file)) == 1


@pytest.mark.parametrize(
    ("game", "pairing", "words"),
    [
        ("score_dominari", "greedy", "pairing 'greedy': must be the names of two agents"),
        ("score_dominari", "greedy random greedy", "separated by a space"),
        ("score_dominari", "greedy nobody", "agent 'nobody'"),
        ("chess", "greedy random", "game 'chess': no such game"),
    ],
)
def test_what_cannot_be_played_is_refused_before_the_first_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str, pairing: str, words: str
) -> None:
    with pytest.raises(OptionError, match=words):
        table_of(game, pairing, 0)
    monkeypatch.delattr(gallery_maker, "play")
    with pytest.raises(typer.BadParameter, match=words):
        make(tmp_path / "games.jsonl", "greedy random", pairing, game=game)
    with pytest.raises(typer.BadParameter, match="no such folder"):
        make(tmp_path / "nowhere" / "games.jsonl", "greedy random")


def test_turns_of_the_lead() -> None:
    assert turns([]) == []
    assert turns([0, 0, 0]) == []
    assert turns([0, 0.4, 0.9, 1]) == []
    assert turns([0.5, -0.05, 0.5, 1]) == []  # nearly even: nobody's lead
    assert turns([0.5, 0.0, -0.5, 0.1, 0.6, 1]) == [2, 4]


def test_the_server_shows_its_gallery(client: TestClient) -> None:
    exhibits = read_gallery()
    listed = client.get("/api/gallery").json()
    assert [each["title"] for each in listed] == [each.title for each in exhibits]
    assert [each["players"] for each in listed] == [each.players for each in exhibits]
    picture = client.get("/gallery/1.svg")
    assert picture.headers["content-type"].startswith("image/svg+xml")
    last = exhibits[1].end.svg(last_action=exhibits[1].last_action)
    assert picture.text == last
    page = client.get("/gallery/1")
    policy = page.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "form-action 'none'; frame-ancestors 'none'" in policy
    held = re.search(r'id="games">(.*?)</script>', page.text, re.DOTALL)
    assert held
    (game,) = json.loads(held[1])["games"]
    assert tuple(game["values"]) == exhibits[1].values
    assert tuple(game["moves"]) == exhibits[1].record.moves
    assert client.get("/gallery").status_code == 200
    for missing in (f"/gallery/{len(exhibits)}", f"/gallery/{len(exhibits)}.svg", "/gallery/-1"):
        assert client.get(missing).status_code == 404


def test_games_are_described_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may compile the rules of its game, and others wait for the one place for long work."""
    works: list[Any] = []

    async def run(self: Workers, work: Any, *arguments: Any, **limits: Any) -> Any:
        works.append((work, *arguments))
        return work(*arguments)

    monkeypatch.setattr(Workers, "run", run)
    with visitor(Store(tmp_path / "games.sqlite3")) as client:
        first, second = (client.get("/api/gallery").json() for _ in range(2))
    assert first == second
    assert works == [(described, each) for each in read_gallery()]


def test_pictures_of_another_gallery_have_other_addresses(record: GameRecord) -> None:
    """Browsers keep them for an hour, and each is the first of its gallery."""
    one = described(Exhibit(record))["version"]
    assert described(Exhibit(replace(record, date="2023-11-14")))["version"] != one
    assert described(Exhibit(record))["version"] == one


def test_a_gallery_of_ones_own(record: GameRecord, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    write_records(file, [record])
    with visitor(Store(":memory:"), gallery=file) as client:
        (listed,) = client.get("/api/gallery").json()
        assert listed["players"] == "greedy - random"
        page = client.get("/gallery/0")
        assert page.status_code == 200
        assert '"values"' not in page.text
