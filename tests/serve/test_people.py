"""What people read: levels, names of players and sides, and pictures that are up to date."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.play.server import people
from azumaya.baselines.play.server.own_files import own_file
from azumaya.baselines.play.words import in_words, sides
from azumaya.envs import GAMES, Position
from docs.images.make_cards import cards
from tests.serve.requests import begin


@pytest.mark.parametrize("game", GAMES)
def test_each_game_has_an_idea_and_a_picture(game: str) -> None:
    words = GAMES[game].words
    assert words.minutes > 0
    assert words.idea.endswith(".")
    assert own_file(f"{game}.svg") == cards()[f"{game}.svg"]


@pytest.mark.parametrize(
    ("longest", "names"),
    [
        (2000, ["Beginner", "Easy", "Medium", "Hard", "Strongest"]),
        (100, ["Beginner", "Easy", "Medium", "Strongest"]),
        (10, ["Beginner", "Easy"]),
    ],
)
def test_levels_keep_to_the_longest_search(longest: float, names: list[str]) -> None:
    game = GAMES["abalone"]
    assert [level.name for level in people.levels(game, longest)] == names
    assert people.player_name("greedy", game, longest) == "Azumaya (easy)"
    assert people.player_name("runs/policy", game, longest) == "Azumaya (runs/policy)"


@pytest.mark.parametrize("game", GAMES)
def test_no_name_of_the_library_is_shown(game: str) -> None:
    position = Position(game, seed=1)
    side = sides(position)
    assert len(set(side)) == 2
    text = "over: player_0 (white) wins; player_1 to move"
    assert in_words(text, side) == f"over: {side[0]} wins; {side[1]} to move"


def test_a_view_says_whose_turn_it_is(client: TestClient) -> None:
    view = begin(client, second="greedy")
    assert view["status"] == f"Your turn ({view['sides'][0]})"
    assert view["called"] == ["You", "Azumaya (easy)"]
    assert "player_" not in str([view["status"], view["notes"], view["trays"]])


def test_a_person_who_follows_a_wrong_link_gets_a_page(client: TestClient) -> None:
    for path in ("/nothing", "/watch/nothing", "/static/nothing.js"):
        answer = client.get(path, headers={"accept": "text/html"})
        assert answer.status_code == 404
        assert "<main" in answer.text
        assert "error" in client.get(path).json()
