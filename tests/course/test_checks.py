"""The checks accept the solutions, and refuse stubs and the mistakes that students make."""

from __future__ import annotations

import copy
import math
import pickle
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.course import (
    Verdict,
    alphazero,
    league,
    masks,
    mcts,
    minimax,
    play,
    policy,
    td,
)
from azumaya.baselines.course.verdict import checked, require, returned
from azumaya.envs import Position
from tests.course.notebooks import NOTEBOOKS, Exercise, exercises

EXERCISES = {
    f"{path.stem[:2]}-{number}": exercise
    for path in NOTEBOOKS
    for number, exercise in enumerate(exercises(path), start=1)
}
every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)

WITH_A_TABLE = (
    "    global table\n    table = globals().get('table', {{}})\n    key = str(position)\n"
    "    if key in table:\n        return table[key]\n    best, lowest = -2, alpha\n"
    "    for action in position.legal_actions():\n"
    "        after = position.copy().play(action)\n"
    "        same = after.to_move == position.to_move\n"
    "        window = (alpha, beta) if same else (-beta, -alpha)\n"
    "        value = 0 if after.is_over else alphabeta(after, *window)\n"
    "        best = max(best, gain(position, after, value))\n        alpha = max(alpha, best)\n"
    "        if alpha >= beta:\n            break\n"
    "    if {kept}:\n        table[key] = best\n    return best\n"
)
"""Alpha-beta that keeps values in a table; `kept` says which."""

WRONG = {
    "shifts wrap around": (
        "01-1",
        "    free = FULL & ~taken\n    for cell in cells(stones[number - 1]):\n"
        "        free &= ~PEERS[cell]\n"
        "    beside = taken << 1 | taken >> 1 | taken << 6 | taken >> 6\n"
        "    return free & beside if taken else free\n",
        "your mask allows .*no stone lies beside",
    ),
    "blanks are no neighbours": (
        "01-1",
        "    free = FULL & ~taken\n    for cell in cells(stones[number - 1]):\n"
        "        free &= ~PEERS[cell]\n"
        "    return free & beside(sum(stones)) if taken else free\n",
        "your mask leaves out",
    ),
    "the first number needs a neighbour, too": (
        "01-1",
        "    return FULL & ~taken & beside(taken)\n",
        "the first number goes anywhere",
    ),
    "negative numbers": ("01-1", "    return ~taken\n", "not negative"),
    "the normal interval": ("02-1", "    return normal_interval(wins, games)\n", "normal interval"),
    "not a number": (
        "02-1",
        "    return float('nan'), float('nan')\n",
        "yours is nan to nan",
    ),
    "ends swapped": (
        "02-1",
        "    from azumaya.baselines.arena.intervals import wilson\n"
        "    return wilson(wins / games, games)[::-1]\n",
        "lower end comes first",
    ),
    "evaluated for the opponent": (
        "02-2",
        "    planes = position.observation(position.to_move)\n"
        "    return int(planes[12].sum()) - int(planes[13].sum())\n",
        "worse than random.*right side",
    ),
    "all positions are equal": ("02-2", "    return 0\n", "not clearly better"),
    "the sign changes after every move": (
        "03-1",
        "    best = -2\n    for action in position.legal_actions():\n"
        "        after = position.copy().play(action)\n"
        "        if after.is_over:\n            value = after.returns()[position.to_move]\n"
        "        else:\n            value = -alphabeta(after, -beta, -alpha)\n"
        "        best = max(best, value)\n        alpha = max(alpha, best)\n"
        "        if alpha >= beta:\n            break\n    return best\n",
        "if the sign changes after every move",
    ),
    "the window is not turned round": (
        "03-1",
        "    best = -2\n    for action in position.legal_actions():\n"
        "        after = position.copy().play(action)\n"
        "        value = 0 if after.is_over else alphabeta(after, alpha, beta)\n"
        "        best = max(best, gain(position, after, value))\n        alpha = max(alpha, best)\n"
        "        if alpha >= beta:\n            break\n    return best\n",
        "window is turned round",
    ),
    "the window is turned round after every move": (
        "03-1",
        "    best = -2\n    for action in position.legal_actions():\n"
        "        after = position.copy().play(action)\n"
        "        value = 0 if after.is_over else alphabeta(after, -beta, -alpha)\n"
        "        best = max(best, gain(position, after, value))\n        alpha = max(alpha, best)\n"
        "        if alpha >= beta:\n            break\n    return best\n",
        "window is turned round after every move",
    ),
    "a bound below the value": (
        "03-1",
        "    from azumaya.baselines.course.minimax import alphabeta as search\n"
        "    value = search(position, alpha, beta)\n"
        "    return value if beta - alpha == 2 or value > alpha else -1\n",
        r"should be \+0\.",
    ),
    "nothing is skipped": ("03-1", "    return minimax(position)\n", "moves were played"),
    "a table instead of pruning": (
        "03-1",
        "    return TableSearch().value(position)\n",
        "moves were played",
    ),
    "a table of bounds": ("03-1", WITH_A_TABLE.format(kept="True"), "only a bound"),
    "the window is not passed on": (
        "03-1",
        "    def search(position):\n        best = -2\n"
        "        for action in position.legal_actions():\n"
        "            after = position.copy().play(action)\n"
        "            value = 0 if after.is_over else search(after)\n"
        "            best = max(best, gain(position, after, value))\n"
        "            if best == 1:\n                break\n        return best\n"
        "    return search(position)\n",
        "narrow windows save no moves",
    ),
    "logarithm of the wrong count": (
        "04-1",
        "    return total / visits + exploration * math.sqrt(math.log(visits) / parent_visits)\n",
        "the mean 0.6000 plus a bonus",
    ),
    "untried moves come last": (
        "04-1",
        "    if visits == 0:\n        return 0\n"
        "    return total / visits + exploration * math.sqrt(math.log(parent_visits) / visits)\n",
        "should be math.inf",
    ),
    "totals for the player to move": (
        "04-2",
        "    for node in path:\n        node.visits += 1\n"
        "        node.total += returns[node.position.to_move]\n",
        "for the player who moved to the node",
    ),
    "visits and totals are replaced": (
        "04-2",
        "    path[0].visits = 1\n"
        "    for before, node in zip(path, path[1:]):\n        node.visits = 1\n"
        "        node.total = returns[before.position.to_move]\n",
        "the node after 3c4 had . visits",
    ),
    "totals are replaced": (
        "04-2",
        "    path[0].visits += 1\n"
        "    for before, node in zip(path, path[1:]):\n        node.visits += 1\n"
        "        node.total = returns[before.position.to_move]\n",
        "Totals are sums",
    ),
    "the root is credited, too": (
        "04-2",
        "    for before, node in zip([path[0], *path], path):\n        node.visits += 1\n"
        "        node.total += returns[before.position.to_move]\n",
        "nobody moved to the root",
    ),
    "signs alternate in the backup": (
        "04-2",
        "    value = returns[path[0].position.to_move]\n    path[0].visits += 1\n"
        "    for node in path[1:]:\n        node.visits += 1\n        node.total += value\n"
        "        value = -value\n",
        "player_0 made the move wd3",
    ),
    "no sign in the return": (
        "05-1",
        "    returns, following = np.zeros(rewards.shape), values[-1]\n"
        "    for t in reversed(range(len(rewards))):\n"
        "        target = (1 - lam) * values[t + 1] + lam * following\n"
        "        returns[t] = following = rewards[t] + np.where(ended[t], 0, target)\n"
        "    return returns\n",
        "sign must change",
    ),
    "returns go on after the end": (
        "05-1",
        "    returns, following = np.zeros(rewards.shape), values[-1]\n"
        "    for t in reversed(range(len(rewards))):\n"
        "        sign = np.where(movers[t + 1] == movers[t], 1, -1)\n"
        "        target = sign * ((1 - lam) * values[t + 1] + lam * following)\n"
        "        returns[t] = following = rewards[t] + target\n"
        "    return returns\n",
        "Nothing follows after the end",
    ),
    "rewards only at the end": (
        "05-1",
        "    returns, following = np.zeros(rewards.shape), values[-1]\n"
        "    for t in reversed(range(len(rewards))):\n"
        "        sign = np.where(movers[t + 1] == movers[t], 1, -1)\n"
        "        target = sign * ((1 - lam) * values[t + 1] + lam * following)\n"
        "        returns[t] = following = np.where(ended[t], rewards[t], target)\n"
        "    return returns\n",
        "Every step adds its reward",
    ),
    "logits times mask": (
        "06-1",
        "    return torch.log_softmax(logits * mask, dim=-1)\n",
        "A logit of 0 is not a probability of 0",
    ),
    "minus infinity": (
        "06-1",
        "    return torch.log_softmax(logits.masked_fill(mask == 0, -torch.inf), dim=-1)\n",
        "not a number",
    ),
    "the logarithm of a softmax": (
        "06-1",
        "    masked = logits.masked_fill(mask == 0, torch.finfo(logits.dtype).min)\n"
        "    return torch.log(torch.softmax(masked, dim=-1))\n",
        "let torch.log_softmax take the logarithm",
    ),
    "masked after the softmax": (
        "06-1",
        "    return torch.log(torch.softmax(logits, dim=-1) * mask + 1e-12)\n",
        "add up to",
    ),
    "the actions are ignored": (
        "06-2",
        "    return -((gains - values.detach()) * log_probs[:, 0]).mean()\n",
        "of the action taken",
    ),
    "the loss is made larger": (
        "06-2",
        "    taken = log_probs.gather(1, actions[:, None])[:, 0]\n"
        "    return ((gains - values.detach()) * taken).mean()\n",
        "the sign is wrong",
    ),
    "the baseline is trained": (
        "06-2",
        "    taken = log_probs.gather(1, actions[:, None])[:, 0]\n"
        "    return -((gains - values) * taken).mean()\n",
        "values.detach",
    ),
    "gains times a column": (
        "06-2",
        "    taken = log_probs.gather(1, actions[:, None])\n"
        "    return -((gains - values.detach()) * taken).mean()\n",
        "Every gain is multiplied by every",
    ),
    "no baseline": (
        "06-2",
        "    taken = log_probs.gather(1, actions[:, None])[:, 0]\n"
        "    return -(gains * taken).mean()\n",
        "differs from that of the mean",
    ),
    "means of untried moves": (
        "07-1",
        "    with np.errstate(all='ignore'):\n"
        "        return totals / visits + c * priors * np.sqrt(1 + visits.sum()) / (1 + visits)\n",
        "counts as 0",
    ),
    "no priors": (
        "07-1",
        "    means = totals / np.maximum(visits, 1)\n"
        "    return means + c * np.sqrt(1 + visits.sum()) / (1 + visits)\n",
        "nothing was tried yet .*they should be",
    ),
    "values for player_0": (
        "07-2",
        "    policy = visits / visits.sum(axis=1, keepdims=True)\n"
        "    return policy, np.full(len(movers), returns[0])\n",
        "what the player to move gained",
    ),
    "powers overflow": (
        "07-2",
        "    with np.errstate(all='ignore'):\n"
        "        powers = visits ** (1 / temperature)\n"
        "        policy = powers / powers.sum(axis=1, keepdims=True)\n"
        "    return policy, np.array(returns)[movers]\n",
        "overflow",
    ),
    "no temperature": (
        "07-2",
        "    policy = visits / visits.sum(axis=1, keepdims=True)\n"
        "    return policy, np.array(returns)[movers]\n",
        "not in proportion",
    ),
    "win rates": (
        "08-1",
        "    rates = wins.sum(axis=1) / (wins + wins.T).sum(axis=1)\n"
        "    found = 400 * np.log10(rates / (1 - rates))\n    return found - found.mean()\n",
        "does not say against whom",
    ),
    "natural logarithms": (
        "08-1",
        "    from azumaya.baselines.course.league import POINTS, bradley_terry\n"
        "    return bradley_terry(wins) / POINTS\n",
        "multiplied by 400",
    ),
    "cells instead of bits": ("01-1", "    return [0, 1]\n", r"and was \[0, 1\]\.$"),
    "evaluated for player_0": (
        "02-2",
        "    planes = position.observation(0)\n"
        "    return int(planes[12].sum()) - int(planes[13].sum())\n",
        "not clearly better than random",
    ),
    "the sign never changes": (
        "03-1",
        "    best = -2\n    for action in position.legal_actions():\n"
        "        after = position.copy().play(action)\n"
        "        if after.is_over:\n            value = after.returns()[position.to_move]\n"
        "        else:\n            value = alphabeta(after, alpha, beta)\n"
        "        best = max(best, value)\n        alpha = max(alpha, best)\n"
        "        if alpha >= beta:\n            break\n    return best\n",
        "if the sign never changes",
    ),
    "values for the opponent": ("03-1", "    return -minimax(position)\n", "The sign is wrong"),
    "a game that is not over is drawn": (
        "03-1",
        "    return max(position.copy().play(a).returns()[position.to_move]\n"
        "               for a in position.legal_actions())\n",
        r"the exact value is [+-]1\.$",
    ),
    "decimal logarithm": (
        "04-1",
        "    return total / visits + exploration * math.sqrt(math.log10(parent_visits) / visits)\n",
        "the mean 0.6000 plus a bonus of 0.7740",
    ),
    "a new path instead": (
        "04-2",
        "    visits = [node.visits + 1 for node in path]\n    return visits\n",
        "no node has changed",
    ),
    "lambda the other way round": (
        "05-1",
        "    returns, following = np.zeros(rewards.shape), values[-1]\n"
        "    for t in reversed(range(len(rewards))):\n"
        "        sign = np.where(movers[t + 1] == movers[t], 1, -1)\n"
        "        target = sign * (lam * values[t + 1] + (1 - lam) * following)\n"
        "        returns[t] = following = rewards[t] + np.where(ended[t], 0, target)\n"
        "    return returns\n",
        r"it should be -?[0-9.]+\.$",
    ),
    "no mask": (
        "06-1",
        "    return torch.log_softmax(logits, dim=-1)\n",
        r"should be 0\. The mask has no effect",
    ),
    "the mask turned round": (
        "06-1",
        "    return torch.log_softmax(logits.masked_fill(mask.bool(), -1e9), dim=-1)\n",
        r"should be 0\. Legal actions have none",
    ),
    "no logarithm": (
        "06-1",
        "    return torch.softmax(logits.masked_fill(mask == 0, -1e9), dim=-1)\n",
        "these are the probabilities",
    ),
    "a softmax over the rows": (
        "06-1",
        "    return torch.log_softmax(logits.masked_fill(mask == 0, -1e9), dim=0)\n",
        r"add up to 1\. Those of a column do",
    ),
    "divided by no visits": (
        "07-1",
        "    means = totals / np.maximum(visits, 1)\n"
        "    with np.errstate(all='ignore'):\n"
        "        return means + c * priors * np.sqrt(1 + visits.sum()) / visits\n",
        "its? visits are 0",
    ),
    "players alternate": (
        "07-2",
        "    powers = (visits / visits.max(axis=1, keepdims=True)) ** (1 / temperature)\n"
        "    values = np.resize([returns[0], returns[1]], len(movers))\n"
        "    return powers / powers.sum(axis=1, keepdims=True), values\n",
        "players do not alternate",
    ),
    "too few rounds": (
        "08-1",
        "    from azumaya.baselines.course.league import _iterations\n"
        "    *_, found = _iterations(wins, 5)\n    return found\n",
        "after a few rounds",
    ),
    "decimal logarithms": (
        "08-1",
        "    from azumaya.baselines.course.league import bradley_terry\n"
        "    return bradley_terry(wins) / 400\n",
        "Decimal logarithms .* multiplied by 400",
    ),
    "a rating too high": (
        "08-1",
        "    from azumaya.baselines.course.league import bradley_terry\n"
        "    found = bradley_terry(wins)\n    found[:2] += (50, -50)\n    return found\n",
        r"should have [0-9.-]+\.$",
    ),
}
"""By mistake: the exercise, the body of the wrong function, and what the check says."""


RIGHT = {
    "positions copied by the module": (
        "03-1",
        "    import copy\n    best = -2\n    for action in position.legal_actions():\n"
        "        after = (copy.copy if action % 2 else copy.deepcopy)(position).play(action)\n"
        "        same = after.to_move == position.to_move\n"
        "        window = (alpha, beta) if same else (-beta, -alpha)\n"
        "        value = 0 if after.is_over else alphabeta(after, *window)\n"
        "        best = max(best, gain(position, after, value))\n        alpha = max(alpha, best)\n"
        "        if alpha >= beta:\n            break\n    return best\n",
    ),
    "a table of exact values": ("03-1", WITH_A_TABLE.format(kept="lowest < best < beta")),
    "illegal logits replaced in place": (
        "06-1",
        "    logits[mask == 0] = torch.finfo(logits.dtype).min\n"
        "    return torch.log_softmax(logits, dim=-1)\n",
    ),
}
"""By idea: the exercise, and the body of a right function unlike the course's own."""


@every_exercise
def test_a_solution_is_accepted(exercise: Exercise) -> None:
    verdict = exercise.verdict(exercise.solution)
    assert verdict, verdict
    assert repr(verdict).startswith("Right: ")


@pytest.mark.parametrize(("name", "body"), RIGHT.values(), ids=RIGHT)
def test_another_right_answer_is_accepted(name: str, body: str) -> None:
    exercise = EXERCISES[name]
    verdict = exercise.verdict(exercise.stub.splitlines()[0] + "\n" + body)
    assert verdict, verdict


@every_exercise
def test_a_stub_is_refused(exercise: Exercise) -> None:
    verdict = exercise.verdict(exercise.stub)
    assert not verdict
    assert repr(verdict) == "Not yet: the function has still to be written."


@every_exercise
def test_an_answer_without_a_return_is_refused(exercise: Exercise) -> None:
    verdict = exercise.verdict(exercise.stub.replace("raise NotImplementedError", "pass"))
    assert not verdict


@every_exercise
def test_an_error_in_an_answer_is_reported(exercise: Exercise) -> None:
    verdict = exercise.verdict(exercise.stub.replace("raise NotImplementedError", "1 / 0"))
    assert not verdict
    assert "ZeroDivisionError" in verdict.message


LONG = ("a table instead of pruning",)
"""Mistakes with which the checks take seconds."""
HINTS = (
    "The sign is wrong", "if the sign", "window is turned round", "A logit of 0", "has no effect",
    "Legal actions have none", "must act before", "of a column", "removes the bits",
    "normal interval", "lower end comes first", "sign must change", "Nothing follows",
    "Every step adds", "Every gain", "do not alternate",
    "become Elo points", "A win rate alone", "after a few rounds", "counts as 0",
    "nothing may be divided",
)  # fmt: skip
"""What is said only where it is the mistake."""


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        pytest.param(*each, marks=pytest.mark.slow if what in LONG else [], id=what)
        for what, each in WRONG.items()
    ],
)
def test_a_typical_mistake_is_refused(name: str, body: str, message: str) -> None:
    exercise = EXERCISES[name]
    verdict = exercise.verdict(exercise.stub.splitlines()[0] + "\n" + body)
    assert not verdict
    assert re.search(message, verdict.message, re.DOTALL), verdict.message
    hints = [hint for hint in HINTS if hint in verdict.message]
    assert len(hints) <= 1  # and none where the message ends with the facts
    assert not (hints and message.endswith(r"\.$")), hints


def test_every_exercise_has_three_typical_mistakes() -> None:
    counts = Counter(name for name, _, _ in WRONG.values())
    assert counts.keys() == EXERCISES.keys()
    assert min(counts.values()) >= 3


CHECKS: dict[Callable[[Any], Verdict], Any] = {
    masks.check_number_mask: masks.number_mask,
    play.check_interval: play.interval,
    minimax.check_alphabeta: minimax.alphabeta,
    mcts.check_ucb: mcts.ucb,
    mcts.check_backup: mcts.backup,
    td.check_lambda_returns: td.lambda_returns,
    policy.check_masked_log_probs: policy.masked_log_probs,
    policy.check_policy_loss: policy.policy_loss,
    alphazero.check_puct: alphazero.puct,
    alphazero.check_training_targets: alphazero.training_targets,
    league.check_bradley_terry: league.bradley_terry,
}
"""By check, the course's own answer."""


@pytest.mark.parametrize(("check", "answer"), CHECKS.items(), ids=lambda f: f.__name__)
def test_a_wrong_answer_is_replaced_by_the_course_s_own(check: Any, answer: Any) -> None:
    """So the rest of a notebook runs, whether or not the exercise is solved."""
    assert check(answer)

    def wrong(*arguments: Any) -> None:
        raise NotImplementedError

    assert check(wrong).function is answer
    assert check(answer).function is answer


ODD: dict[str, Any] = {
    "text": "x", "nothing in it": [], "one number": 5, "two numbers": (1, 2),
    "not a number": math.nan, "unequal rows": [[1.0], [1.0, 2.0]], "an object": object(),
}  # fmt: skip
"""What no exercise but one or the other asks for."""


@pytest.mark.parametrize("given", ODD.values(), ids=ODD)
@pytest.mark.parametrize("check", CHECKS, ids=lambda f: f.__name__)
def test_an_answer_of_another_type_or_shape_is_told_as_such(check: Any, given: Any) -> None:
    """The student's code raises nothing, so what the check cannot do with it is not its fault."""
    verdict = check(lambda *arguments: given)
    assert not verdict
    assert "Error" not in verdict.message, verdict.message


def test_what_the_messages_say_instead() -> None:
    for check, wrong, message in (
        (play.check_interval, lambda w, g: w / g, "is 0.5; it should be two numbers, both ends"),
        (alphazero.check_puct, lambda p, v, t, c: t.sum(), "should be 3 numbers, a score for each"),
        (mcts.check_ucb, lambda *a: (1.0, 2.0), r"is \(1.0, 2.0\); it should be one number"),
        (td.check_lambda_returns, lambda *a: a[1], r"shape \(13, 5\); it .* shape \(12, 5\), one"),
        (policy.check_masked_log_probs, lambda a, m: a.tolist(), "should be a tensor of floats"),
        (policy.check_masked_log_probs, lambda a, m: m, "a tensor of torch.int8; it should be a"),
        (policy.check_masked_log_probs, lambda a, m: a[0], r"shape \(9,\); it should be \(6, 9\)"),
        (policy.check_policy_loss, lambda p, a, g, v: v.sum(), "on the log-probabilities given"),
        (policy.check_policy_loss, lambda p, a, g, v: p[0], "that of one number"),
    ):  # fmt: skip
        assert re.search(message, check(wrong).message), check(wrong).message


def test_a_detached_result_has_no_gradient() -> None:
    check = policy.check_masked_log_probs
    verdict = check(lambda a, m: policy.masked_log_probs(a, m).detach())
    assert "does not depend on the logits given" in verdict.message


@pytest.mark.parametrize("number", [np.int64, np.uint64])
def test_whole_numbers_of_any_type_are_masks(number: Any) -> None:
    assert masks.check_number_mask(lambda *a: number(masks.number_mask(*a)))


def test_only_the_student_s_code_has_raised_what_it_raises() -> None:
    def interval(wins: int) -> tuple[float, float]:
        return wins, wins

    for answer, message in (
        (interval, r"cannot be called as it should: TypeError: .*interval\(\) takes 1"),
        (7, "cannot be called as it should: TypeError: 'int' object is not callable"),
        (lambda wins, games: wins / 0, "your code raised ZeroDivisionError"),
    ):
        verdict = play.check_interval(answer)  # type: ignore[arg-type]
        assert re.search(message, verdict.message), verdict.message

    @checked(len)
    def unforeseen(answer: Any) -> str:
        return str(returned(answer, "x") + 1)

    assert unforeseen(lambda x: x).message.startswith("what your code returned cannot be checked: ")


def test_an_agent_is_told_why_it_cannot_play() -> None:
    class Wild:
        def act(self, positions: Any, keys: Any) -> list[int]:
            return [10**6] * len(positions)

    assert "your agent cannot play: Wild's " in play.check_agent(Wild()).message
    assert "should be an agent" in play.check_agent(Wild).message


def test_a_verdict_shows_itself_in_notebooks_without_tags_of_the_answer() -> None:
    @checked(len)
    def check(answer: Any) -> str:
        require(answer(3) == 3, f"yours is {answer(3)}")
        return "yes"

    assert "&lt;b&gt;" in check(lambda _: "<b>")._repr_html_()
    assert "Right: yes" in check(lambda given: given)._repr_html_()


def test_the_moves_of_plain_minimax_are_as_many_as_the_check_says() -> None:
    counter = [0]

    def value(position: Any) -> float:
        best = -2.0
        for action in position.legal_actions():
            after = position.copy().play(action)
            best = max(best, minimax.gain(position, after, 0.0 if after.is_over else value(after)))
        return best

    for position, exact in minimax.endgames():
        assert value(minimax.Counted(position, counter)) == exact
    assert counter[0] == minimax.PLAIN_MOVES


def test_there_are_no_more_endgames_than_the_exam_has() -> None:
    assert minimax.endgames(1, 6) == []
    few = minimax.endgames(4, 1000)
    assert 0 < len(few) < 1000
    assert minimax.endgames_by_length(4, 1000) == {4: [position for position, _ in few]}


def test_counted_positions_count_and_compare() -> None:
    counter = [0]
    position = minimax.Counted(Position("vierer_dominari"), counter)
    other = position.copy().play("3c4")
    assert counter == [1]
    assert position != other
    assert other == position.copy().play("3c4")
    assert len({str(other), str(position.copy().play("3c4"))}) == 1
    assert counter == [3]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, minimax.Counted.copy])
def test_counted_positions_can_be_copied(copied: Callable[[Any], Any]) -> None:
    counter = [0]
    position = minimax.Counted(Position("vierer_dominari"), counter)
    other = copied(position).play("3c4")
    assert counter == [1]
    assert position.legal_moves() != other.legal_moves()
    assert pickle.loads(pickle.dumps(position)).legal_moves() == position.legal_moves()
