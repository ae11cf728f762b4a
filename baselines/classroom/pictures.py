"""The costliest moves of submissions as pictures in the report: the move played, and a better one.

Most cells of a game's pictures look alike. What occurs more than once is in the page once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from azumaya.baselines.classroom.mistakes import position_of, words_of
from azumaya.baselines.classroom.store import Mistake, Run, played_in
from azumaya.baselines.play.words import sides
from azumaya.envs.render import palette
from azumaya.envs.render.judged import Kind, judged, sign
from azumaya.envs.render.layout import CAPTION, WIDTH
from azumaya.envs.render.pieces import element
from azumaya.envs.render.pointing import point_at
from azumaya.envs.render.svg import board_parts

MOST = 300
"""Pictures of a report."""
BOX = f"0 0 {WIDTH} {CAPTION - 8}"
KINDS: tuple[Kind, ...] = ("played", "better")
RESULTS = {1: "won", 0: "drawn", -1: "lost"}


@dataclass(frozen=True)
class Drawn:
    """A mistake as a picture.

    Attributes:
        parts: the elements of the picture, from the bottom to the top.
        title: which move of which game.
        sentence: what it has cost, and what was better.
    """

    parts: Sequence[str]
    title: str
    sentence: str


class Pictures:
    """The pictures of all submissions of a class.

    Args:
        runs: the submissions with their costliest moves.
    """

    def __init__(self, runs: Sequence[tuple[Run, Sequence[Mistake]]]) -> None:
        share = max(1, MOST // max(1, sum(bool(found) for _, found in runs)))
        self._drawn = {
            run.id: [_draw(played_in(run, m).record.moves[m.ply], run, m) for m in found[:share]]
            for run, found in runs
        }
        every = [each for found in self._drawn.values() for each in found]
        often = Counter(part for each in every for part in each.parts)
        repeated = [part for part, count in often.items() if count > 1]
        self._numbers: Mapping[str, int] = {part: n for n, part in enumerate(repeated, start=1)}

    def shared(self) -> str:
        """What pictures have in common, as an element that shows nothing."""
        if not self._numbers:
            return ""
        parts = "".join(f'<g id="azc-{n}">{part}</g>' for part, n in self._numbers.items())
        return f'<svg class="azc-shared" aria-hidden="true"><defs>{parts}</defs></svg>\n'

    def legend(self) -> str:
        """What the marks mean; empty if there are no pictures."""
        if not any(self._drawn.values()):
            return ""
        played, better = (
            f'<svg viewBox="0 0 20 20" aria-hidden="true">{sign(kind, (10, 10), 60)}</svg>'
            for kind in KINDS
        )
        return (
            f'<p class="azc-key">On the boards of the costliest moves, {played}broken lines with a '
            f"cross are the move played, {better}unbroken lines with a tick a better one. A value "
            "is what the submission ends with: above 0 it wins, below 0 it loses.</p>\n"
        )

    def of(self, run: Run) -> str:
        """The pictures of a submission; empty if it has none."""
        drawn = self._drawn.get(run.id)
        if not drawn:
            return ""
        figures = "".join(map(self._figure, drawn))
        return f'<p>Costliest moves in games:</p><div class="azc-moves">{figures}</div>'

    def _figure(self, drawn: Drawn) -> str:
        parts = "".join(
            f'<use href="#azc-{self._numbers[part]}"/>' if part in self._numbers else part
            for part in drawn.parts
        )
        return (
            f'<figure><svg viewBox="{BOX}" role="img" aria-label="{escape(drawn.title)}">{parts}'
            f"</svg><figcaption><b>{escape(drawn.title)}.</b> {escape(drawn.sentence)}"
            "</figcaption></figure>"
        )


def _draw(move: str, run: Run, mistake: Mistake) -> Drawn:
    """Draw the position before a mistake, the move, and a better one."""
    played = played_in(run, mistake)
    position = position_of(mistake, played)
    scene = position.scene()
    moves = point_at(position, move), point_at(position, mistake.better)
    paper = element("rect", width=WIDTH, height=CAPTION, fill=palette.PAPER)
    game = f"a game {RESULTS[played.result]} against {mistake.opponent}"
    return Drawn(
        [paper, *board_parts(scene), *judged(scene, *moves)],
        f"Move {mistake.ply + 1} of {game}, {sides(position)[position.to_move]} to move",
        words_of(mistake, position, move),
    )
