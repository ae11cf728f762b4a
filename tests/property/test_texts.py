"""Arbitrary and damaged texts give the documented error or a correct result, nothing else."""

from __future__ import annotations

import functools
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azumaya.envs.errors import MoveNameError, PositionError
from azumaya.envs.position import Position
from azumaya.envs.text import read_whole, split_position
from tests.cases import CASES, DERIVED_CASES, SHAPES, Case, random_line

SIGNS = string.ascii_letters + string.digits + "./=?,+-_ \t\né１²"
some_text = st.text(SIGNS, max_size=130) | st.text(max_size=40)
some_case = st.sampled_from((*CASES, *DERIVED_CASES))


@functools.cache
def texts_of(case: Case) -> tuple[str, ...]:
    """Position texts from a random game, from its start to its end."""
    return tuple(map(str, random_line(case.position(1), random.Random(case.label))))


def read_or_refuse(case: Case, text: str) -> None:
    """A text is refused, or gives a valid position whose own text gives the same position."""
    try:
        position = case.read(text)
    except PositionError:
        return
    again = str(position)
    assert str(case.read(again)) == again
    case.game.words.check_state(position.state[0])
    assert position.is_over == (not position.legal_actions())


@pytest.mark.parametrize("case", [*SHAPES, *DERIVED_CASES], ids=lambda case: case.label)
def test_options_for_the_start_alone_are_not_needed_later(case: Case) -> None:
    """Positions read without them are the same, and so is what search knows of the game."""
    options = case.setup.without_starts().given
    for text in texts_of(case):
        position, wanted = Position.from_text(case.game, text, **options), case.read(text)
        assert position == wanted
        assert position.num_actions == wanted.num_actions
        assert position.legal_moves() == wanted.legal_moves()
        assert position.scene() == wanted.scene()
        bound = case.game.options.payoff_bound
        assert bound(position.setup.settings) == bound(case.setup.settings)


@given(some_case, some_text)
def test_arbitrary_texts_are_refused(case: Case, text: str) -> None:
    read_or_refuse(case, text)


@given(some_case, st.data())
def test_damaged_texts_are_refused_or_understood(case: Case, data: st.DataObject) -> None:
    """A valid text with one to three characters changed, removed or inserted."""
    text = data.draw(st.sampled_from(texts_of(case)))
    signs = st.sampled_from(sorted(set(text)) + list(".?-=9zé"))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        end = at + data.draw(st.integers(0, 1))
        text = text[:at] + data.draw(signs | st.just("")) + text[end:]
    read_or_refuse(case, text)


@given(some_case, st.data())
def test_mixed_words_are_refused_or_understood(case: Case, data: st.DataObject) -> None:
    """Words of valid texts in any combination."""
    texts = st.sampled_from(texts_of(case))
    board, mover, *words = data.draw(texts).split()
    others = [word for _ in range(3) for word in data.draw(texts).split()[2:]]
    chosen = (
        data.draw(st.lists(st.sampled_from(words + others), max_size=6)) if words or others else []
    )
    other_mover = data.draw(texts).split()[1]
    read_or_refuse(
        case, " ".join([board, data.draw(st.sampled_from([mover, other_mover])), *chosen])
    )


@given(some_case, st.data())
def test_numbers_in_words_are_checked(case: Case, data: st.DataObject) -> None:
    """Any number in any field."""
    board, mover, *words = data.draw(st.sampled_from(texts_of(case))).split()
    if words:
        i = data.draw(st.integers(0, len(words) - 1))
        key = words[i].partition("=")[0]
        number = data.draw(st.integers(-3, 12) | st.integers(-(10**12), 10**12))
        words[i] = f"{key}={number}"
    read_or_refuse(case, " ".join([board, mover, *words]))


@given(some_case, some_text | st.text("123456789abcdefghirstlok0w", max_size=6))
def test_move_names(case: Case, name: str) -> None:
    """A text is refused, or is what a player calls the action that it is read as."""
    position = case.position(1)
    for player in (0, 1):
        action = position.action_named(name, player)
        if action is not None:
            assert 0 <= action < position.num_actions
            assert case.game.words.move_name(action, case.setup.settings, player) == name
    if position.action_named(name, position.to_move) is None:
        with pytest.raises(MoveNameError, match="must be "):
            position.parse_move(name)


# ---- the splitter ----


@given(some_text)
def test_splitting_raises_only_the_documented_error(text: str) -> None:
    try:
        parts = split_position(text, (2, 3), ".ab", "wb", ("k",))
    except PositionError:
        return
    assert [len(row) for row in parts.rows] == [2, 3]
    assert parts.to_move in "wb"
    assert set(parts.fields) <= {"k"}


rows = st.tuples(st.text(".ab", min_size=2, max_size=2), st.text(".ab", min_size=3, max_size=3))
word = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=5)


@given(rows, st.sampled_from("wb"), word)
def test_splitting_undoes_joining(parts: tuple[str, str], mover: str, value: str) -> None:
    split = split_position(f"{'/'.join(parts)} {mover} k={value}", (2, 3), ".ab", "wb", ("k",))
    assert split.rows == parts
    assert split.to_move == mover
    assert split.fields == {"k": value}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ab w", "1 rows"),
        ("ab/.../... w", "3 rows"),
        ("ab/.. w", "row 2"),
        ("ab/.x. w", "'x' in row 2 from the top, column 2"),
        ("ab/...", "to move"),
        ("ab/... x", "'x'"),
        ("ab/... wb", "'wb'"),
        ("ab/... w k", "'k'"),
        ("ab/... w k=", "the field k= has no value"),
        ("ab/... w j=1", "'j=1'"),
        ("ab/... w k=1 k=1", "twice"),
    ],
)
def test_messages_quote_the_wrong_part(text: str, message: str) -> None:
    with pytest.raises(PositionError) as raised:
        split_position(text, (2, 3), ".ab", "wb", ("k",))
    assert message in str(raised.value)


@given(st.integers(-10, 10), st.integers(0, 10), st.integers(-30, 30))
def test_numbers_in_the_range_are_read(low: int, span: int, number: int) -> None:
    high = low + span
    if low <= number <= high:
        assert read_whole(str(number), "k", low, high) == number
    else:
        with pytest.raises(PositionError, match="k="):
            read_whole(str(number), "k", low, high)


@given(st.text(max_size=12))
def test_other_numbers_are_refused(text: str) -> None:
    try:
        value = read_whole(text, "k", -99, 99)
    except PositionError:
        return
    assert value == int(text)
