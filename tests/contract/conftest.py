"""The games and variants on which the contract is checked."""

from __future__ import annotations

import random

import pytest

from tests.cases import CASES, DERIVED_CASES, SHAPES, TESTED, Case, cases_of


@pytest.fixture(params=(*CASES, *DERIVED_CASES), ids=lambda case: case.label)
def case(request: pytest.FixtureRequest) -> Case:
    """Every variant of every game, the match included."""
    case: Case = request.param
    return case


@pytest.fixture(params=(*SHAPES, *DERIVED_CASES), ids=lambda case: case.label)
def shape_case(request: pytest.FixtureRequest) -> Case:
    """One variant of every shape, for what does not depend on the rules."""
    case: Case = request.param
    return case


@pytest.fixture(params=TESTED.values(), ids=lambda game: game.name)
def first_case(request: pytest.FixtureRequest) -> Case:
    """The first variant of every game."""
    return cases_of(request.param)[0]


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers seeded with the test's name, so the same in every run."""
    return random.Random(request.node.name)
