"""Prompts in files, answers read back, and `azumaya texts`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from azumaya.baselines import load_exam
from azumaya.baselines.text import score_answers, take_text_exam, text_exam, write_prompts
from azumaya.baselines.text.exam_files import AnswersError
from azumaya.envs import OptionError
from tests.commands import azumaya, refused
from tests.text.scripted import perfect

GAMES = ("vierer_dominari", "abalone")
Lines = list[dict[str, Any]]
PUBLIC = f"vierer_dominari-v{load_exam('vierer_dominari').version}-public-"
"""How the names of the prompts begin."""


def read(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write(path: Path, lines: Lines) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    exams = [text_exam(game, positions=4, seed=2) for game in GAMES]
    assert write_prompts(path, exams) == 8
    return path


def best(prompt: dict[str, Any]) -> str:
    return f"move: {max(prompt['values'], key=lambda move: prompt['values'][move])}"


def answered(prompts: Path, make: Callable[[dict[str, Any]], str] = best) -> Lines:
    return [{"id": line["id"], "answer": make(line)} for line in read(prompts)]


def test_prompts_say_what_is_asked_and_what_each_move_is_worth(prompts: Path) -> None:
    exams = {game: text_exam(game, positions=4, seed=2) for game in GAMES}
    for line in read(prompts):
        exam = exams[line["game"]]
        question = exam.exam.positions[line["number"]]
        assert line["id"] == f"{line['game']}-v{line['version']}-public-{line['number']}"
        assert line["messages"] == exam.messages(line["number"])
        assert line["position"] == question.position
        assert line["position"] in line["messages"][1]["content"]
        assert line["values"] == question.values
        assert line["plies_left"] == question.plies_left
        assert line["seed"] == 2


def test_answers_read_back_give_the_figures_of_a_model_asked_here(
    prompts: Path, tmp_path: Path
) -> None:
    answers = write(tmp_path / "answers.jsonl", answered(prompts)[::-1])
    results = score_answers(prompts, answers, "m")
    assert [result.game for result in results] == list(GAMES)
    for result in results:
        exam = text_exam(result.game, positions=4, seed=2)
        same = take_text_exam(perfect(exam), exam, "m")
        assert result.as_object() == same.as_object()
        assert result.seed == 2
        assert result.regret == 0
    write(answers, answered(prompts, lambda prompt: "no idea"))
    assert [result.failed for result in score_answers(prompts, answers)] == [4, 4]


def test_the_batch_form_goes_there_and_back(prompts: Path, tmp_path: Path) -> None:
    requests, answers = tmp_path / "requests.jsonl", tmp_path / "output.jsonl"
    write_prompts(requests, [text_exam(g, positions=4, seed=2) for g in GAMES], "some-model")
    plain, lines = read(prompts), read(requests)
    assert [line["custom_id"] for line in lines] == [line["id"] for line in plain]
    assert {line["url"] for line in lines} == {"/v1/chat/completions"}
    assert lines[0]["body"] == {"model": "some-model", "messages": plain[0]["messages"]}
    done = [
        {
            "id": f"batch_req_{count}",
            "custom_id": line["id"],
            "response": {
                "status_code": 200,
                "body": {"choices": [{"message": {"role": "assistant", "content": best(line)}}]},
            },
            "error": None,
        }
        for count, line in enumerate(plain)
    ]
    write(answers, done)
    results = score_answers(requests, answers)
    assert [result.regret for result in results] == [0, 0]
    assert [result.as_object()["seed"] for result in results] == [None, None]
    done[0]["response"]["body"]["choices"][0]["message"]["content"] = None
    done[5] = {"id": "b", "custom_id": plain[5]["id"], "response": None, "error": {"code": "x"}}
    done[6]["response"] = {"status_code": 500, "body": {}}
    write(answers, done)
    with pytest.raises(AnswersError, match="2 of 8 prompts have no answer"):
        score_answers(requests, answers)
    found = score_answers(requests, answers, missing_as_worst=True)
    assert [result.failed for result in found] == [1, 2]
    assert [result.unreadable for result in found] == [1, 0]


def test_an_answer_of_null_is_an_empty_one(prompts: Path, tmp_path: Path) -> None:
    lines: Lines = [{**line, "answer": None} for line in answered(prompts)]
    results = score_answers(prompts, write(tmp_path / "answers.jsonl", lines))
    assert [(result.failed, result.unreadable) for result in results] == [(4, 4), (4, 4)]


def test_prompts_that_list_the_moves_are_an_exam_of_their_own(tmp_path: Path) -> None:
    listed, plain, both = (tmp_path / name for name in ("listed", "plain", "both"))
    exams = [text_exam(GAMES[0], positions=2, legal_moves=given) for given in (True, False)]
    write_prompts(listed, exams[:1])
    write_prompts(plain, exams[1:])
    write_prompts(both, exams)
    answers = write(tmp_path / "answers.jsonl", answered(listed))
    (result,) = score_answers(listed, answers)
    assert result.legal_moves
    with pytest.raises(AnswersError, match="-listed is not among the prompts"):
        score_answers(plain, answers)
    write(answers, answered(both))
    assert [result.legal_moves for result in score_answers(both, answers)] == [True, False]


def test_a_seed_that_is_not_known_is_none(prompts: Path, tmp_path: Path) -> None:
    """Two draws in one file, and a file that does not say."""
    answers, lines = write(tmp_path / "answers.jsonl", answered(prompts)), read(prompts)
    lines[0]["seed"] = 5
    for line in lines[4:]:
        del line["seed"]
    write(prompts, lines)
    assert [result.seed for result in score_answers(prompts, answers)] == [None, None]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[1:], f"1 of 8 prompts have no answer, such as {PUBLIC}"),
        (lambda lines: [*lines, lines[0]], f"line 9: {PUBLIC}.* answered twice"),
        (lambda lines: [*lines, {"id": "x", "answer": ""}], "x is not among the prompts"),
        (lambda lines: [{"answer": "5a1"}], "line 1: neither id nor custom_id"),
        (lambda lines: [{**lines[0], "answer": 5}], "the answer 5 is no text"),
        (lambda lines: [{"id": lines[0]["id"]}], "line 1: it has no answer; must be a text"),
        (lambda lines: [{"custom_id": lines[0]["id"], "response": {}}], "no answer of a chat"),
        (lambda lines: ["text"], "line 1: 'text' is no object"),
    ],
)
def test_damaged_answers_are_named(
    prompts: Path, tmp_path: Path, change: Callable[[Lines], Lines], message: str
) -> None:
    answers = write(tmp_path / "answers.jsonl", change(answered(prompts)))
    with pytest.raises(AnswersError, match=message):
        score_answers(prompts, answers)


@pytest.mark.parametrize(
    ("number", "changes", "message"),
    [
        (0, {"id": "vierer_dominari-v9-public-1"}, "version 9 of the exam"),
        (0, {"id": "vierer_domino-v1-public-1"}, "line 1: .*did you mean 'vierer_dominari'"),
        (0, {"id": f"{PUBLIC}999"}, "has no position 999"),
        (0, {"id": PUBLIC.replace("public", "secret") + "1"}, "is not the id of a prompt"),
        (0, {"id": f"{PUBLIC}007"}, f"-007 is not .*; must be {PUBLIC}7"),
        (1, {"messages": [{"role": "user", "content": "Which move?"}]}, "line 2: the messages of"),
        (1, {"messages": None}, "line 2: the messages of"),
        (1, {"custom_id": "ITS ID", "body": ["?"]}, "line 2: the messages of"),
        (1, {"seed": "2"}, "line 2: seed='2': must be"),
        (1, {"seed": True}, "line 2: seed=True: must be"),
        (8, {}, r"line 9: vierer_dominari-.* is there twice"),
    ],
)
def test_prompts_that_this_version_would_not_write_are_refused(
    prompts: Path, tmp_path: Path, number: int, changes: dict[str, Any], message: str
) -> None:
    """Those of other exams as well."""
    lines = read(prompts)
    lines.append(lines[0])
    if "custom_id" in changes:
        changes = {**changes, "custom_id": lines[number]["id"]}
    lines[number] = {**lines[number], **changes}
    write(prompts, lines[: max(8, number + 1)] if number else lines[:1])
    answers = write(tmp_path / "answers.jsonl", answered(prompts))
    with pytest.raises(AnswersError, match=message):
        score_answers(prompts, answers)


def test_prompts_in_a_file_allow_one_try(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="tries=2"):
        write_prompts(tmp_path / "prompts.jsonl", [text_exam(GAMES[0], tries=2)])
    assert not (tmp_path / "prompts.jsonl").exists()


# ---- the command ----


def test_the_command_writes_and_scores(tmp_path: Path) -> None:
    prompts, answers = tmp_path / "prompts.jsonl", tmp_path / "answers.jsonl"
    asked = ("--game", GAMES[0], "--positions", "3", "--seed", "4", "--part", "held-out")
    done = azumaya("texts", "write", prompts, *asked)
    assert done.exit_code == 0, done.output
    assert "3 prompts" in done.output
    assert {line["part"] for line in read(prompts)} == {"held-out"}
    write(answers, answered(prompts))
    done = azumaya("texts", "score", prompts, answers, "--name", "m", "--json")
    assert done.exit_code == 0, done.output
    (result,) = map(json.loads, done.stdout.splitlines())
    (same,) = score_answers(prompts, answers, "m")
    assert result == json.loads(json.dumps(same.as_object()))
    assert result["seed"] == 4
    write(answers, answered(prompts, lambda prompt: "?")[1:])
    refused(azumaya("texts", "score", prompts, answers), "1 of 3 prompts have no answer")
    done = azumaya("texts", "score", prompts, answers, "--missing-as-worst")
    assert done.exit_code == 0, done.output
    assert re.search(r"no legal move in 3 of 3 positions \(0 illegal.*2 unreadable", done.output)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--game", "nope"], "game 'nope': no such game"),
        (["--game", "sudoku_tiles"], "this game has no exam"),
        (["--part", "secret"], "--part secret: must be public or held-out"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, words: list[str], message: str) -> None:
    refused(azumaya("texts", "write", tmp_path / "prompts.jsonl", *words), message)
