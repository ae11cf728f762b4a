"""Recorded games as one page of HTML that needs nothing else, an animated picture, or a video."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from azumaya.baselines.play.review import Seen, Told, as_object, review_of
from azumaya.baselines.play.words import capital, sides, worded
from azumaya.baselines.search.game_kernels import payoff_bound
from azumaya.envs import OptionError, Position
from azumaya.envs.extras import require
from azumaya.envs.notation import GameRecord, replay
from azumaya.envs.render import rgb_of, svg_of
from azumaya.envs.render.board import BOARD_SCRIPTS, picture_of, web_file, web_script

FRAMES_A_SECOND = 10
"""Frames a second of a video whose positions are shown for so long or longer."""
SHORTEST_MS = 20
"""The shortest time for which a video shows a position."""
LAST_FRAME = 4
"""How many times as long as the others the last picture of an animation is shown."""

Values = Sequence[float]
"""What player_0 ends with in each position of a game; empty if that is not known."""


def replay_page(
    records: Sequence[GameRecord],
    milliseconds: float | None = None,
    told: Told | None = None,
    values: Sequence[Values] | None = None,
    reviews: Sequence[Sequence[Seen] | None] | None = None,
    called: Sequence[str] | None = None,
) -> str:
    """Recorded games as a page with play, step and speed.

    Args:
        records: the games.
        milliseconds: time to search each position for its value and best move; a graph shows the
            values, and mistakes are marked. None for no graph.
        told: called after each search.
        values: for each game, the values of its positions, which are known already; may be empty.
        reviews: for each game, what a search has said of its positions already, or None.
        called: what people call both players of all games, for a page without the library's names;
            who is called nothing has the name of the side. None for the names of the records.

    Raises:
        OptionError: there are no games, or the time is not above 0.
        RecordError: a record breaks the rules.
    """
    if not records:
        raise OptionError("records: there are none; a replay needs at least one game")
    parts: dict[str, int] = {}
    games = []
    for number, record in enumerate(records):
        found = reviews[number] if reviews is not None else None
        if milliseconds is not None:
            found = review_of(record, told, milliseconds=milliseconds)
        known = values[number] if values is not None else ()
        games.append(_game(record, known, parts, found, called))
    title = games[0]["title"] if len(games) == 1 else f"{len(games)} games"
    script, style = replay_script(), replay_style()
    return f"""{page_head(title, script, style)}
<body>
<main id="replay"></main>
<noscript>This page needs JavaScript to show the game.</noscript>
{_games_element(games, parts)}
<script type="module">{script}</script>
</body>
</html>
"""


def reviewed_game(record: GameRecord, values: Values = ()) -> dict[str, Any]:
    """A recorded game as `web/replay.js` shows it while it is being analysed.

    Args:
        record: the game.
        values: those of its positions, if they are known.

    Returns:
        `games`, of which there is one, and `parts`.

    Raises:
        RecordError: the record breaks the rules.
    """
    parts: dict[str, int] = {}
    return {"games": [_game(record, values, parts, (), record.players)], "parts": list(parts)}


def games_element(records: Sequence[GameRecord]) -> str:
    """Recorded games as an element of another page, which has a `<div id="replay">` above it.

    The page needs `replay_script` and `replay_style`. Links to `#game-1`, `#game-2` and so on open
    the games.

    Raises:
        RecordError: a record breaks the rules.
    """
    parts: dict[str, int] = {}
    return _games_element([_game(record, (), parts) for record in records], parts)


def _games_element(games: Sequence[Any], parts: Iterable[str]) -> str:
    """What the script reads: JSON that cannot end the element it is in."""
    held = {"games": games, "parts": list(parts)}
    content = json.dumps(held, separators=(",", ":"), allow_nan=False)
    inside = content.replace("<", "\\u003c")
    return f'<script type="application/json" id="games">{inside}</script>'


def page_head(title: str, script: str, style: str) -> str:
    """How a page that needs nothing else begins, up to its body.

    Args:
        title: the title of the page, as text.
        script: the script that is all that may run in the page.
        style: its style.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{content_policy(script, style)}">
<title>{escape(title)} - Azumaya</title>
<style>{style}</style>
</head>"""


def content_policy(script: str, style: str) -> str:
    """A Content-Security-Policy that lets a page use its own script and style, nothing else."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def replay_script() -> str:
    """The script of a page with a replay: what are modules elsewhere, one after the other."""
    script = web_script(*BOARD_SCRIPTS, "graph.js", "replay.js")
    return f"\n{script}\nshowGames();\n"


@cache
def replay_style() -> str:
    """The style of a page with a replay."""
    return f"\n{web_file('board.css')}\n{web_file('replay.css')}"


def _game(
    record: GameRecord,
    values: Values,
    parts: dict[str, int],
    review: Sequence[Seen] | None = None,
    called: Sequence[str] | None = None,
) -> dict[str, Any]:
    """A game for the page; what its pictures share is added to `parts`, text by number."""
    positions = list(replay(record))
    both = sides(positions[-1])  # colours may be chosen in the game
    usual = ("player_0", "player_1") if called is None else [capital(side) for side in both]
    names = record.players if called is None else called
    pictures = [picture_of(scene) for scene in _scenes(record, positions)]
    if called is not None:
        pictures = [worded(picture, both) for picture in pictures]
    made: dict[str, Any] = {
        "title": positions[0].game.title,
        "players": [name or other for name, other in zip(names, usual, strict=True)],
        "sides": both,
        "moves": list(record.moves),
        "frames": [
            {key: _numbered(value, parts) for key, value in picture.items()} for picture in pictures
        ],
        "record": record.to_json(),
    }
    if review is not None:
        made["review"] = as_object(review, record.moves)
        values = [*(each["value"] for each in review), *values[len(review) :]]
    if values or review is not None:
        made["values"] = list(values)
        made["bound"] = max(payoff_bound(positions[0]), 1)
    return made


def _scenes(record: GameRecord, positions: Sequence[Position]) -> list[Any]:
    """The scenes of a game, each with the move that led to it marked."""
    actions = [before.action(m) for before, m in zip(positions, record.moves, strict=False)]
    return [p.scene(a) for p, a in zip(positions, [None, *actions], strict=True)]


def _numbered(value: Any, parts: dict[str, int]) -> int | list[int]:
    """A value, or the items of a list, as numbers of texts."""
    if isinstance(value, list):
        return [_number(item, parts) for item in value]
    return _number(value, parts)


def _number(value: Any, parts: dict[str, int]) -> int:
    return parts.setdefault(json.dumps(value, separators=(",", ":")), len(parts))


def replay_gif(record: GameRecord, milliseconds: float = 700, width: int = 560) -> bytes:
    """A recorded game as an animated GIF (needs the extra `render`).

    Args:
        record: the game.
        milliseconds: how long each position is shown; the last one stays longer.
        width: the width in pixels.

    Raises:
        OptionError: the width is out of range.
        RecordError: the record breaks the rules.
        MissingExtraError: the extra `render` is not installed.
    """
    image = require("PIL.Image", "render")
    # The next is drawn when the one before is encoded: those of a long game would fill the memory.
    pictures = (image.fromarray(pixels) for pixels in _pictures(record, width))
    pause = round(milliseconds)
    pauses = [pause] * len(record.moves) + [LAST_FRAME * pause]
    output = BytesIO()
    next(pictures).save(
        output, "GIF", save_all=True, append_images=pictures, duration=pauses, loop=0
    )
    return output.getvalue()


def replay_mp4(record: GameRecord, milliseconds: float = 700, width: int = 1120) -> bytes:
    """A recorded game as a video, H.264 in MP4, for slides (needs `render` and `video`).

    Args:
        record: the game.
        milliseconds: how long each position is shown, from 100 ms on to the nearest tenth of a
            second; the last one stays longer.
        width: the width in pixels. If it or the height is odd, the edge is doubled, since the
            format needs even sizes.

    Raises:
        OptionError: the width is out of range.
        RecordError: the record breaks the rules.
        MissingExtraError: one of the extras is not installed.
    """
    av = require("av", "video")
    # Each is encoded before the next is drawn: those of a long game would fill the memory.
    pictures = map(_even, _pictures(record, width))
    first = next(pictures)
    rate = max(FRAMES_A_SECOND, round(1000 / max(milliseconds, SHORTEST_MS)))
    often = max(1, round(milliseconds / 1000 * rate))
    output = BytesIO()
    with av.open(output, "w", format="mp4") as video:
        stream = video.add_stream("libx264", rate=rate)
        stream.height, stream.width = first.shape[:2]
        stream.pix_fmt = "yuv420p"  # the only one that all players understand
        for ply, pixels in enumerate(itertools.chain([first], pictures)):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            for _ in range(often * (LAST_FRAME if ply == len(record.moves) else 1)):
                frame.pts = None  # one frame after the other
                video.mux(stream.encode(frame))
        video.mux(stream.encode())
    return output.getvalue()


def _even(pixels: np.ndarray) -> np.ndarray:
    """A picture whose width and height are even."""
    return np.pad(pixels, [(0, side % 2) for side in pixels.shape[:2]] + [(0, 0)], "edge")


def _pictures(record: GameRecord, width: int) -> Iterator[np.ndarray]:
    """The positions of a game as pixels, `(height, width, 3)` uint8, drawn one by one."""
    for scene in _scenes(record, list(replay(record))):
        yield rgb_of(svg_of(scene), width)
