"""What a visitor may choose, and the game wished. What is typed is read, never executed."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any

from azumaya.baselines.agents.by_game import ByGameAgent
from azumaya.baselines.agents.champion_net import CHAMPION_NET
from azumaya.baselines.agents.names import SIMPLE, read_search_name
from azumaya.baselines.arena.entrants import HUMAN, Entrant, find_entrant, trained_options
from azumaya.baselines.arena.game_options import check_value, read_value
from azumaya.baselines.play.server import people
from azumaya.baselines.play.server.access import digest, friend_key
from azumaya.baselines.play.server.clock import read_clock
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.play.server.own_files import own_files
from azumaya.baselines.play.server.seats import FRIEND, PEOPLE, seated
from azumaya.baselines.play.server.store import Kept
from azumaya.baselines.play.words import paragraphs
from azumaya.baselines.system.files import is_count, shown
from azumaya.baselines.values.champion import CHAMPION, champion_file
from azumaya.envs import OptionError
from azumaya.envs.game import Game, Option
from azumaya.envs.position import MAX_SEED
from azumaya.envs.registry import all_games
from azumaya.envs.setup import POSITION, check_names

LONGEST_VALUE = 2_000
"""The most characters of an option's value."""
DEFAULT_TIME = 100
"""That of the usual opponent, or the next lower one where no search may take so long."""
USUAL = tuple(name for name in SIMPLE if name != CHAMPION_NET)
"""What every server offers. A network, for which workers need torch, is offered if it is named."""
_SEARCH = re.compile(r"(?:uct|alphabeta|champion):([0-9]{1,7})ms")
_QUOTED = re.compile(r'"([a-z_]+)"|\b(True|False)\b')


def milliseconds_of(player: str) -> float:
    """The time that a player takes for a move.

    Args:
        player: the player's name.

    Returns:
        Milliseconds: 0 for players that do not search, infinity if the name gives no time, such as
        `uct:100000` or a path.
    """
    if player in (*PEOPLE, *SIMPLE):
        return 0.0
    try:
        return read_search_name(player).milliseconds or inf
    except OptionError:  # a checkpoint, a class or a program
        return inf


class Choices:
    """What may be chosen on a server.

    Args:
        agents: agents besides the usual ones, such as paths of checkpoints. A visitor can name no
            other file.
        limits: the server's limits.

    Raises:
        ValueError: there is no such agent, or a game of one's own cannot be imported.
    """

    def __init__(self, agents: Iterable[str], limits: Limits) -> None:
        self._listed = {name: _offered(name) for name in agents}
        self._limits = limits
        self._games = all_games()

    @cached_property
    def described(self) -> dict[str, Any]:
        """All choices, for the page."""
        offered = people.times(self._limits.search)
        searching = [f"{kind}:{ms}ms" for kind in ("uct", CHAMPION) for ms in offered]
        usual = [ms for ms in offered if ms <= DEFAULT_TIME]
        return {
            "games": [self._described(game) for game in self._games.values()],
            "players": [
                {"name": name, "games": self._played_by(name)}
                for name in (HUMAN, FRIEND, *USUAL, *searching, *self._listed)
            ],
            "default": f"uct:{usual[-1]}ms" if usual else "greedy",
        }

    def _described(self, game: Game) -> dict[str, Any]:
        return {
            "name": game.name,
            "title": game.title,
            "idea": game.words.idea,
            "minutes": game.words.minutes,
            "picture": f"{game.name}.svg" in own_files(),
            "lesson": len(game.words.lesson),
            "rules": paragraphs(game.words.how_to_play),
            "levels": [vars(level) for level in people.levels(game, self._limits.search)],
            "options": _options(game),
        }

    def _played_by(self, player: str) -> list[str] | None:
        """The names of the games that a player can play; None for all."""
        entrant = self._listed.get(player)
        if entrant is not None and entrant.game is not None:
            return [entrant.game.name]
        if entrant is not None and isinstance(entrant.agent, ByGameAgent):
            return [game.name for game in self._games.values() if entrant.agent.plays(game)]
        if player.partition(":")[0] == CHAMPION:
            return [game.name for game in self._games.values() if champion_file(game).is_file()]
        return None

    def game(self, name: Any) -> Game:
        """The game of a name; raises `RefusalError`."""
        if not isinstance(name, str) or name not in self._games:
            known = ", ".join(self._games)
            raise RefusalError(400, f"game {shown(name)!r}: must be one of {known}")
        return self._games[name]

    def player(self, name: Any) -> Entrant:
        """The player of a name; raises `RefusalError`."""
        if not isinstance(name, str):
            raise RefusalError(400, "player: a name is needed, as text")
        if name in self._listed:
            return self._listed[name]
        search = _SEARCH.fullmatch(name)
        if search and not 0 < int(search[1]) <= self._limits.search:
            raise RefusalError(
                400, f"player {name!r}: at most {self._limits.search:g} ms for a move here"
            )
        if name in PEOPLE:
            return seated(name)
        if name in USUAL or search:
            return find_entrant(name)
        raise RefusalError(
            400,
            f"player {shown(name)!r}: must be {HUMAN}, {FRIEND}, {', '.join(USUAL)}, uct:100ms "
            "or another time, or an agent that the server was started with",
        )

    def title(self, game: str) -> str:
        """What the list of games calls a game, which may no longer be offered."""
        return self._games[game].title if game in self._games else game

    def names(self, game: str, players: Sequence[str], seats: Sequence[int]) -> list[str]:
        """As `people.names`, for a game that may no longer be offered."""
        if game not in self._games:
            return list(players)
        return people.names(players, self._games[game], self._limits.search, seats)


def _offered(name: str) -> Entrant:
    """An agent that the server is to offer; raises `ValueError`."""
    if name == HUMAN:
        raise OptionError(f"agent {name!r}: a person can play anyway; name an agent")
    return find_entrant(name, evaluated=True)


def checked_texts(game: Game, texts: Any) -> dict[str, str]:
    """Options as texts by name, without spaces around either, those left empty left out.

    Raises:
        ValueError: it is none, is too long, or could name a file of the server.
    """
    if not isinstance(texts, Mapping) or not all(
        isinstance(part, str) for pair in texts.items() for part in pair
    ):
        raise RefusalError(400, "options: texts by name are needed")
    given: dict[str, str] = {}
    for name, text in ((name.strip(), text.strip()) for name, text in texts.items()):
        if not text:
            continue
        if name in given:
            raise RefusalError(400, f"option {shown(name)!r}: given twice; give it one value")
        if len(text) > LONGEST_VALUE:
            raise RefusalError(
                400, f"option {shown(name)!r}: longer than {LONGEST_VALUE:,} characters"
            )
        if any(option.name == name and option.reads_files for option in game.options):
            raise RefusalError(400, f"option {name}: could name a file, which no visitor may")
        given[name] = text
    option_values(game, given)
    return given


def option_values(game: Game, texts: Mapping[str, str]) -> dict[str, Any]:
    """The values of options from their texts, as `checked_texts` returns them.

    Raises:
        ValueError: there is no such option or value.
    """
    # Words NAME=VALUE would be split again: a name with `=` in it could become that of another.
    check_names(game, texts)
    return {name: read_value(game, name, text) for name, text in texts.items()}


def _options(game: Game) -> list[dict[str, Any]]:
    described = [
        {
            "name": option.name,
            "default": str(option.default),
            "values": option.values.replace("`", ""),
            "meaning": option.meaning.replace("`", ""),
            "suggested": _suggested(option),
        }
        for option in game.options
        if not option.reads_files
    ]
    position = {
        "name": POSITION,
        "default": "",
        "values": "a position text",
        "meaning": "Where the game begins.",
        "suggested": [],
    }
    return [*described, position]


def _suggested(option: Option) -> list[str]:
    """Values that the description of an option quotes, as far as the option takes them."""
    quoted = [one or other for one, other in _QUOTED.findall(option.values)]
    return [text for text in quoted if _takes(option, text)]


def _takes(option: Option, text: str) -> bool:
    try:
        check_value(option, {"True": True, "False": False}.get(text, text))
    except ValueError:
        return False
    return True


def read_wish(choices: Choices, visitor: str, wish: Any) -> tuple[Kept, list[Entrant]]:
    """The game that a visitor wishes, and its players.

    Args:
        choices: what may be chosen.
        visitor: the visitor's token.
        wish: `game`, and optionally `options`, `first`, `second`, `seed` and `clock`.

    Raises:
        ValueError: the wish cannot be met.
    """
    if not isinstance(wish, Mapping):
        raise RefusalError(400, "a JSON object is needed")
    game = choices.game(wish.get("game"))
    first, second = (choices.player(wish.get(side, HUMAN)) for side in ("first", "second"))
    names = (first.name, second.name)
    for player in (first, second):
        check_game(player, game)
    if HUMAN not in names:
        raise RefusalError(400, f"first, second: one of them must be {HUMAN}")
    seed = wish.get("seed")
    if seed is None:
        seed = secrets.randbits(31)
    if not is_count(seed) or seed > MAX_SEED >> 1:
        most = MAX_SEED >> 1
        raise RefusalError(400, f"seed={shown(seed)}: a whole number from 0 to {most} is needed")
    texts = checked_texts(game, wish.get("options", {}))
    name = secrets.token_urlsafe(16)
    kept = Kept(
        name, secrets.token_urlsafe(16), digest(visitor), game.name, texts, names, seed,
        trained=trained_options(game, (first, second), option_values(game, texts)),
        clock=read_clock(wish.get("clock")),
        guest=digest(friend_key(name, visitor)) if FRIEND in names else "",
    )  # fmt: skip
    return kept, [first, second]


def check_game(player: Entrant, game: Game) -> None:
    """Raises `RefusalError` if a player plays another game only."""
    if player.game is not None and player.game is not game:
        raise RefusalError(400, f"player {player.name}: plays {player.game.name} only")
