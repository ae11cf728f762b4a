"""Positions as the pages show them: earlier ones, whole turns, where stones came from."""

from __future__ import annotations

import random

from starlette.testclient import TestClient

from azumaya.envs import Position
from azumaya.envs.render.board import view_of
from tests.serve.requests import GAME, begin, delete, refused, send


def test_an_earlier_position_can_be_looked_at(client: TestClient) -> None:
    start = view = begin(client)
    for _ in range(3):
        view = send(client, view, "move", move=view["moves"][0][0]).json()
    path = f"/api/games/{view['id']}"
    past = client.get(path, params={"ply": 2}).json()
    position = Position(GAME, seed=1).play(view["made"][0])
    action = position.action(view["made"][1])
    position.play(view["made"][1])
    assert past["cells"] == view_of(position)["cells"]
    assert past["last"] == list(position.action_cells(action))
    assert past["status"] == f"After move 2: {view['made'][1]}"
    assert past["moves"] == []
    for ply, shown in ((0, start), (3, view)):
        assert client.get(path, params={"ply": ply}).json()["cells"] == shown["cells"]
    refused(client.get(path, params={"ply": 4}), 404, "at move 3")
    assert client.get(path, params={"ply": "-1"}).json() == view


def test_a_turn_of_two_moves_is_marked_whole(client: TestClient) -> None:
    """In Vierer a turn places a number, and then may place a blank."""
    view = begin(client, "vierer_dominari")
    while view["toMove"] == 0 or len(view["movers"]) < 2:
        view = send(client, view, "move", move=view["moves"][0][0]).json()
    begun = max(
        n for n in range(view["ply"]) if n == 0 or view["movers"][n - 1] != view["movers"][n]
    )
    start, marked = Position("vierer_dominari"), set[int]()
    for move in view["made"][begun:]:
        marked.update(start.action_cells(start.action(move)))
    assert set(view["last"]) == marked


def test_the_cells_that_a_move_has_left_are_told(client: TestClient) -> None:
    view = begin(client, "halma_dominari")
    assert view["left"] == []
    _, _, [path, *_] = next(move for move in view["moves"] if len(move[2][0]) == 2)
    name = next(move[0] for move in view["moves"] if path in move[2])
    after = send(client, view, "move", move=name).json()
    assert (after["left"], after["last"]) == ([path[0]], [path[1]])
    back = send(client, after, "undo").json()
    assert (back["left"], back["last"]) == ([], [])
    position = ".....1/....../....../.a..../....../2..... w"
    view = begin(client, "halma_dominari", options={"position": position})
    after = send(client, view, "move", move="1off").json()  # its move names no cell
    assert (after["left"], after["last"]) == ([5], [])
    assert after["cells"][5][4] == ""
    moyo = begin(client)
    assert send(client, moyo, "move", move=moyo["moves"][0][0]).json()["left"] == []


def test_a_four_is_lit(client: TestClient) -> None:
    """By the side that has won; an even game lights nothing."""
    rng, wins = random.Random(1), 0
    for seed in range(40):
        view = begin(client, "vierer_dominari", seed=seed)
        while not view["over"]:
            assert view["won"] == []
            view = send(client, view, "move", move=rng.choice(view["moves"])[0]).json()
        delete(client, view["id"])
        assert bool(view["won"]) == (view["returns"][0] != 0)
        wins += bool(view["won"])
        winner = view["sides"][view["returns"][1] > 0]
        assert all(winner in view["cells"][cell][4] for cell in view["won"])
        assert len(view["won"]) in (0, *range(4, 9))
        if wins == 3:
            return
    raise AssertionError("too few games were won")
