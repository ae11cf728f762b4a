"""Recorded games as a page of their own, and as an animated picture."""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import json
import random
import re
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from azumaya.baselines.cli import replay as replay_commands
from azumaya.baselines.play import replay as replays
from azumaya.baselines.play.replay import FRAMES_A_SECOND, LAST_FRAME, replay_mp4, replay_page
from azumaya.envs import GAMES, Position
from azumaya.envs.notation import GameRecord, record_of, write_records
from azumaya.envs.render import rgb_of, svg_of
from azumaya.envs.render.board import picture_of
from tests.commands import azumaya, refused

MOVES = 8


def game(name: str, players: tuple[str, str] = ("me", "you"), plies: int = MOVES) -> GameRecord:
    """The first moves of a random game."""
    start, rng, moves = Position(name, seed=1), random.Random(0), []
    here = start.copy()
    for _ in range(plies):
        moves.append(rng.choice(here.legal_moves()))
        here.play(moves[-1])
    return record_of(start, moves, here, players)


def content(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="games">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def frames(held: Any, number: int) -> list[dict[str, Any]]:
    """The frames of a game, put together as the page does."""
    parts = [json.loads(part) for part in held["parts"]]
    return [
        {k: [parts[n] for n in v] if isinstance(v, list) else parts[v] for k, v in frame.items()}
        for frame in held["games"][number]["frames"]
    ]


@pytest.mark.parametrize("name", GAMES)
def test_every_position_is_in_the_page(name: str) -> None:
    record = game(name)
    shown = frames(content(replay_page([record])), 0)
    assert len(shown) == MOVES + 1
    here, last = Position(name, seed=1), None
    for move, frame in zip((*record.moves, None), shown, strict=True):
        assert frame == json.loads(json.dumps(picture_of(here.scene(last))))
        if move is not None:
            last = here.action(move)
            here.play(move)


def test_the_page_needs_nothing_and_runs_nothing_else() -> None:
    """Its policy allows exactly its own script and style, and names cannot become markup."""
    evil = "</script><script>alert(1)</script>"
    page = replay_page([game("abalone", (evil, "<b>you"))])
    assert evil not in page
    assert "<b>" not in page
    assert content(page)["games"][0]["players"] == [evil, "<b>you"]
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    for tag in ("style", "script"):
        text = re.search(rf'<{tag}(?: type="module")?>(.*?)</{tag}>', page, re.DOTALL)
        assert text
        digest = base64.b64encode(hashlib.sha256(text[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    assert "default-src 'none'" in policy[1]
    assert not re.search(r'\b(?:src|href)="', page)


replay = functools.partial(azumaya, "replay")


@pytest.mark.parametrize("place", ["folder.html", "/proc/games.html"])
def test_a_page_that_cannot_be_written_is_refused_before_the_search(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place.startswith("/proc") and sys.platform != "linux":
        pytest.skip("a folder in which nobody can write")
    file = tmp_path / "games.jsonl"
    write_records(file, [game("vierer_dominari")])
    (tmp_path / "folder.html").mkdir()
    monkeypatch.setattr(replay_commands, "replay_page", lambda *arguments: pytest.fail("searched"))
    done = replay(file, "--output", tmp_path / place, "--values", 2)
    refused(done, f"--output {tmp_path / place}: ")
    assert len(list(tmp_path.iterdir())) == 2


def test_several_games_with_values(tmp_path: Path) -> None:
    file, page = tmp_path / "games.jsonl", tmp_path / "games.html"
    write_records(file, [game("sudoku_moyo"), game("abalone")])
    done = replay(file, "--output", page, "--line", 1, "--values", 2)
    assert done.exit_code == 0, done.output
    held = content(page.read_text())["games"]
    assert len(held) == 1
    assert len(held[0]["values"]) == MOVES + 1
    assert all(abs(value) <= held[0]["bound"] for value in held[0]["values"])
    assert replay(file, "--output", page).exit_code == 0
    held = content(page.read_text())["games"]
    assert [each["title"] for each in held] == ["Sudoku Moyo", "Abalone"]
    assert GameRecord.from_json(held[1]["record"]) == game("abalone")


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    """As editors count them, and errors: empty ones as well."""
    file, page = tmp_path / "games.jsonl", tmp_path / "games.html"
    lines = ["", game("sudoku_moyo").to_json(), "", game("abalone").to_json()]
    file.write_text("\n".join(lines))
    assert replay(file, "--output", page, "--line", 4).exit_code == 0
    assert [each["title"] for each in content(page.read_text())["games"]] == ["Abalone"]
    assert "line 3: it is empty" in replay(file, "--output", page, "--line", 3).output


def test_games_that_are_left_out_are_mentioned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_commands, "MOST_GAMES", 2)
    file, said = tmp_path / "games.jsonl", "there are more games in the file"
    record = game("abalone", plies=1)
    for records, page, picture in ((1, False, False), (1, False, True), (1, True, True)):
        write_records(file, [record] * records)
        for name, expected in (("games.html", page), ("game.gif", picture)):
            done = replay(file, "--output", tmp_path / name)
            assert done.exit_code == 0, done.output
            assert (said in done.output) == expected
    assert "2 games, " in replay(file, "--output", tmp_path / "games.html").output
    assert said not in replay(file, "--output", tmp_path / "game.gif", "--line", 2).output


def test_an_animated_picture(tmp_path: Path) -> None:
    file, picture = tmp_path / "games.jsonl", tmp_path / "game.GIF"
    write_records(file, [game("abalone")])
    assert replay(file, "--output", picture, "--pause", 50).exit_code == 0
    with Image.open(io.BytesIO(picture.read_bytes())) as image:
        assert image.n_frames == MOVES + 1
        assert image.width == 560


def test_a_video(tmp_path: Path) -> None:
    """Every position for the same time, the last one longer; sizes are even, as H.264 needs."""
    av = pytest.importorskip("av")
    file, video = tmp_path / "games.jsonl", tmp_path / "game.mp4"
    write_records(file, [game("abalone", plies=2), game("sudoku_moyo")])
    done = replay(file, "--output", video, "--pause", 100)
    assert done.exit_code == 0, done.output
    assert "1 game," in done.output
    with av.open(str(video)) as opened:
        frames = [frame.to_ndarray(format="rgb24") for frame in opened.decode(video=0)]
        assert opened.streams.video[0].average_rate == FRAMES_A_SECOND
    assert len(frames) == 2 + LAST_FRAME
    start = Position("abalone", seed=1)
    expected = rgb_of(svg_of(start.scene()), 1120)
    assert frames[0].shape[1] == 1120
    assert frames[0].shape[0] == expected.shape[0] + expected.shape[0] % 2
    assert np.abs(frames[0][: len(expected)].astype(int) - expected).mean() < 4
    assert np.abs(frames[-1].astype(int) - frames[-LAST_FRAME]).mean() < 1
    assert np.abs(frames[0].astype(int) - frames[1]).max() > 50


@pytest.mark.parametrize(("pause", "rate", "shown"), [(20, 50, 1), (50, 20, 1), (260, 10, 3)])
def test_short_pauses_of_a_video(pause: int, rate: int, shown: int) -> None:
    av = pytest.importorskip("av")
    made = replay_mp4(game("abalone", plies=2), milliseconds=pause, width=128)
    with av.open(io.BytesIO(made)) as opened:
        assert opened.streams.video[0].average_rate == rate
        assert sum(1 for _ in opened.decode(video=0)) == shown * (2 + LAST_FRAME)


class Counted:
    """Counts how many of the results of functions are in memory at the same time."""

    def __init__(self) -> None:
        self.made: list[weakref.ref[Any]] = []
        self.most = 0

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any) -> Any:
            found = function(*given)
            self.made.append(weakref.ref(found))
            self.most = max(self.most, sum(each() is not None for each in self.made))
            return found

        return counted


def test_no_pictures_are_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those before are encoded when the next is drawn; a video may have thousands, of 2 MB each."""
    counted = Counted()
    monkeypatch.setattr(Image, "fromarray", counted(Image.fromarray))
    replays.replay_gif(game("abalone"), width=128)
    assert len(counted.made) == MOVES + 1
    assert counted.most <= 4
    pytest.importorskip("av")
    counted = Counted()
    monkeypatch.setattr(replays, "rgb_of", counted(rgb_of))
    monkeypatch.setattr(replays, "_even", counted(replays._even))
    replay_mp4(game("abalone"), milliseconds=100, width=128)
    assert len(counted.made) == 2 * (MOVES + 1)
    assert counted.most <= 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("games.jsonl", "--output", "game.mov"), "must end in .html, .gif or .mp4"),
        (("games.jsonl", "--output", "nowhere/game.html"), "there is no folder"),
        (("missing.jsonl", "--output", "game.html"), "No such file"),
        (("games.jsonl", "--output", "game.html", "--line", 9), "line 9: the file ends before it"),
        (("games.jsonl", "--output", "game.gif", "--values", 5), "only a .html page"),
        (("games.jsonl", "--output", "game.html", "--values", 0), "above 0"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[object, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_records("games.jsonl", [game("abalone")])
    refused(replay(*words), message)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.jsonl"]
