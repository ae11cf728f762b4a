"""The board in a notebook, without one: messages as the page would send them."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.agents import GreedyAgent
from azumaya.envs import IllegalActionError, OptionError, Position
from azumaya.envs.render.widget import OpponentFailedError

GAME = "score_dominari"


def board(**arguments: Any) -> Any:
    return Position(GAME, seed=1).board(**arguments)


def hear(widget: Any, **content: Any) -> list[Any]:
    """What the board answers to a message of the page, which shows the position as it is."""
    said: list[Any] = []
    widget.send = said.append
    widget._handle_custom_msg({"changes": widget.view["changes"], **content}, [])
    return said


def test_moves_made_on_the_board_are_python_objects() -> None:
    widget, seen = board(), []
    widget.observe(lambda change: seen.append(change["new"]), "moves")
    first = widget.position.legal_moves()[0]
    assert hear(widget, kind="play", move=first) == []
    assert widget.moves == (first,)
    assert seen == [(first,)]
    assert widget.position == Position(GAME, seed=1).play(first)
    assert widget.view["status"] == widget.position.scene().notes[0]
    assert widget.view["canUndo"]
    hear(widget, kind="undo")
    assert widget.moves == ()
    assert widget.position == Position(GAME, seed=1)
    assert not widget.view["canUndo"]


def test_refusals_are_told_on_the_board() -> None:
    widget = board()
    (said,) = hear(widget, kind="play", move="nonsense")
    assert "nonsense" in said["text"]
    (said,) = hear(widget, kind="explain", cells=[0], label="1", number=7)
    assert said["number"] == 7
    assert said["sentences"][0].startswith("1a6")
    for bad in ({}, {"kind": "play"}, {"kind": "explain", "cells": 5, "label": "", "number": 1}):
        assert hear(widget, **bad)[0]["kind"] == "said"
    assert widget.moves == ()
    with pytest.raises(ValueError, match="name='nonsense'"):
        widget.play("nonsense")


def test_clicks_on_an_earlier_position_are_ignored() -> None:
    """Python hears of them late, as after a long search; the moves may be legal by then."""
    widget = board()
    first = widget.position.legal_moves()[0]
    other = widget.position.copy().play(first).legal_moves()[0]
    assert widget.view["changes"] == 0
    hear(widget, kind="play", move=first, changes=0)
    assert (widget.moves, widget.view["changes"]) == ((first,), 1)
    widget.undo()
    widget.play(first)
    for late in (0, 1):
        assert hear(widget, kind="play", move=other, changes=late) == []
        assert hear(widget, kind="undo", changes=late) == []
        why = {"kind": "explain", "cells": [0], "label": "1", "number": 7}
        assert hear(widget, **why, changes=late) == []
    assert widget.moves == (first,)
    hear(widget, kind="play", move=other, changes=3)
    assert widget.moves == (first, other)


@pytest.mark.parametrize("opponent", [find_agent("greedy"), lambda here: here.legal_moves()[0]])
def test_an_opponent_answers_whole_turns(opponent: Any) -> None:
    widget = board(opponent=opponent)
    while not widget.position.is_over:
        assert widget.position.to_move == 0
        widget.play(widget.position.legal_moves()[-1])
    assert not widget.view["yours"]
    with pytest.raises(IllegalActionError, match="over"):
        widget.play(widget.moves[-1])
    again = board(opponent=opponent)
    while not again.position.is_over:
        again.play(again.position.legal_moves()[-1])
    assert again.moves == widget.moves
    widget.undo()
    assert widget.position.to_move == 0


def fails_at_first(times: int, what: Any) -> Any:
    """An opponent whose first answers are of no use; later it plays the first legal move."""
    left = [what] * times

    def choose(here: Any) -> Any:
        if not left:
            return here.legal_moves()[0]
        given = left.pop()
        if isinstance(given, BaseException):
            raise given
        return given

    return choose


USELESS = {"no move": "9z9", "nothing": None, "an error": ZeroDivisionError("division by zero")}


@pytest.mark.parametrize("what", USELESS.values(), ids=USELESS)
def test_where_the_opponent_fails_the_move_is_taken_back(what: Any) -> None:
    widget = board(opponent=fails_at_first(2, what))
    first = widget.position.legal_moves()[0]
    before = widget.view
    with pytest.raises(OpponentFailedError, match=r"the opponent failed: .*was taken back"):
        widget.play(first)
    (said,) = hear(widget, kind="play", move=first)
    assert said["text"].startswith("the opponent failed: ")
    assert (widget.moves, widget.view) == ((), {**before, "changes": widget.view["changes"]})
    assert widget.position == Position(GAME, seed=1)
    assert hear(widget, kind="play", move=first) == []  # the opponent was asked again
    assert len(widget.moves) > 1
    assert widget.view["yours"]


def test_an_opponent_that_is_interrupted_leaves_no_half_of_a_move() -> None:
    widget = board(opponent=fails_at_first(1, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        widget.play(widget.position.legal_moves()[0])
    assert widget.moves == ()


def test_nobody_plays_for_the_opponent() -> None:
    widget: Any = board(opponent=lambda here: widget.play(here.legal_moves()[0]))
    with pytest.raises(OpponentFailedError, match=r"move=.*: it is the opponent's turn"):
        widget.play(widget.position.legal_moves()[0])
    assert widget.moves == ()


def test_an_observer_that_fails_is_told_on_the_board() -> None:
    widget = board(opponent=lambda here: here.legal_moves()[0])
    widget.observe(lambda change: 1 / 0, "moves")
    (said,) = hear(widget, kind="play", move=widget.position.legal_moves()[0])
    assert said["text"] == "ZeroDivisionError: division by zero"
    assert widget.moves == ()
    assert widget.position == Position(GAME, seed=1)


def test_who_observes_one_trait_finds_the_others_new() -> None:
    widget, seen = board(), []
    widget.observe(lambda change: seen.append((widget.position, len(widget.moves))), "moves")
    widget.observe(lambda change: seen.append((widget.position, len(widget.moves))), "position")
    first = widget.position.legal_moves()[0]
    widget.play(first)
    assert seen == [(Position(GAME, seed=1).play(first), 1)] * 2


@pytest.mark.parametrize(
    ("opponent", "message"), [(5, "opponent=5"), ("nobody", "opponent: agent 'nobody': must be")]
)
def test_what_is_no_opponent(opponent: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        board(opponent=opponent)


def test_an_opponent_can_be_named() -> None:
    boards = board(opponent="greedy"), board(opponent=GreedyAgent())
    for widget in boards:
        widget.play(widget.position.legal_moves()[0])
    assert len(boards[0].moves) == 2
    assert boards[0].moves == boards[1].moves


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", None, True])
def test_bad_seeds_are_refused_before_a_move(seed: Any) -> None:
    with pytest.raises(OptionError, match=r"seed=.*: a whole number from 0 to 2\*\*64 - 1"):
        board(seed=seed)


def test_the_position_given_is_not_changed() -> None:
    position = Position(GAME, seed=1)
    widget = position.board()
    widget.play(position.legal_moves()[0])
    assert position == Position(GAME, seed=1)
