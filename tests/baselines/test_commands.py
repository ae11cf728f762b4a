"""`azumaya evaluate` and `azumaya play`: settings, errors, records; options of the program."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from azumaya import baselines
from azumaya.baselines import cli
from azumaya.baselines.agents import GreedyAgent, checkpoint
from azumaya.baselines.agents import sidecar as sidecar_module
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.arena import entrants
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.arena.starts import balanced_starts
from azumaya.baselines.cli import play as play_commands
from azumaya.baselines.system import machine as version
from azumaya.baselines.system.signals import ENDING
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.notation import read_records, replay
from tests.baselines.checkpoints import trained
from tests.commands import azumaya, refused
from tests.processes import python

GAME, OTHER, POINTS = "sudoku_moyo", "abalone", "score_dominari"

# ---- what is played ----


def test_a_checkpoint_decides_game_and_options_unless_options_are_given(tmp_path: Path) -> None:
    agent = trained(tmp_path / "agent", OTHER, max_plies=4, layout="belgian_daisy")
    evaluate = ("evaluate", agent, "random", "--starts", 1)
    play = ("play", "--first", "random", "--second", agent, "--seed", 3)
    given = ("--option", "max_plies=2", "--option", "layout=standard")
    for words, plies, layout in (((), 4, "belgian_daisy"), (given, 2, "standard")):
        result = azumaya(*evaluate, *words)
        assert result.exit_code == 0, result.output
        assert f"abalone max_plies={plies} layout={layout}, 1 start in" in result.output
        result = azumaya(*play, *words)
        assert result.exit_code == 0, result.output
        assert f"Abalone, seed 3, max_plies={plies} layout={layout}" in result.output
        assert result.output.count("\nplayer_") == plies


def test_untrained_agents_play_the_first_game() -> None:
    found = [entrants.find_entrant(name) for name in ("random", "greedy")]
    assert entrants.choose_game(found, None) == (GAMES[next(iter(GAMES))], {})
    assert entrants.choose_game(found, OTHER, ["max_plies=7"]) == (GAMES[OTHER], {"max_plies": 7})


def test_evaluate_says_how_many_starts_differ() -> None:
    """A book ends: players without chance would repeat their games, and intervals be too narrow."""
    book = len(balanced_starts("sudoku_moyo"))
    for starts, said in ((book, ""), (book + 1, f" ({book} different ones)")):
        result = azumaya("evaluate", "random", "greedy", "--starts", starts)
        title = f"sudoku_moyo, {starts} balanced starts{said} in both seats"
        assert title in " ".join(result.output.split()), result.output


def test_evaluate_prints_json_that_says_what_the_table_does() -> None:
    words = ("evaluate", "greedy", "random", "--game", POINTS, "--starts", 3, "--seed", 2)
    result = azumaya(*words, "--json")
    assert result.exit_code == 0, result.output
    said, score = json.loads(result.stdout), play_pairing(POINTS, "greedy", "random", 3, 2)
    assert {name: said[name] for name in ("game", "options", "seed", "starts", "balanced")} == {
        "game": POINTS, "options": {}, "seed": 2, "starts": 3, "balanced": True,
    }  # fmt: skip
    assert (said["rate"], said["interval"]) == (score.rate, [*score.interval()])
    assert sum(said[name] for name in ("wins", "draws", "losses")) == said["games"] == 6
    talking = azumaya("evaluate", f"{__name__}:Talks", *words[2:-2], "--json")
    assert json.loads(talking.stdout)["games"] == 6


class Talks(GreedyAgent):
    """An agent that prints."""

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        print("thinking")
        return super().act(positions, keys)


def test_search_agents_are_named_on_the_command_line() -> None:
    words = ("--option", "reward=margin", "--seed", 3)
    result = azumaya("evaluate", "uct:4", "alphabeta:20", "--game", POINTS, "--starts", 1, *words)
    assert result.exit_code == 0, result.output
    assert "uct:4" in result.output
    assert "alphabeta:20" in result.output
    result = azumaya("play", POINTS, "--first", "uct:4", "--second", "uct:2ms", *words)
    assert "player_0 (uct:4): " in result.output
    assert "player_1 (uct:2ms): " in result.output
    for command in ("play", "evaluate"):
        assert "uct:SIMULATIONS" in azumaya(command, "--help").output


def test_agents_by_name_in_python(tmp_path: Path) -> None:
    path = trained(tmp_path / "agent")
    assert isinstance(baselines.find_agent(str(path)), PolicyAgent)
    with pytest.raises(
        OptionError, match="agent 'human': must be random, greedy, champion, champion-net, uct:"
    ):
        baselines.find_agent("human")


def test_checkpoints_are_distinguished_by_path(tmp_path: Path) -> None:
    one, two = trained(tmp_path / "a/policy", OTHER), trained(tmp_path / "b/policy", OTHER)
    result = azumaya("evaluate", one, two, "--starts", 1, "--option", "max_plies=2")
    assert str(one) in result.output
    assert str(two) in result.output


def test_checkpoints_must_agree(tmp_path: Path) -> None:
    plain = trained(tmp_path / "plain")
    corners = trained(tmp_path / "corners", territory="corners")
    both = [entrants.find_entrant(str(path)) for path in (plain, corners)]
    refused(
        azumaya("evaluate", plain, corners),
        f"{plain} with territory=default and {corners} with territory=corners",
        "--option territory=VALUE",
    )
    assert entrants.choose_game(both, None, ["territory=rows"])[1] == {"territory": "rows"}
    standard = entrants.find_entrant(str(trained(tmp_path / "said", territory="standard")))
    assert entrants.choose_game([both[0], standard], None)[0].name == GAME
    other = trained(tmp_path / "other", OTHER)
    refused(azumaya("evaluate", plain, other), f"{plain} plays {GAME} and {other} plays {OTHER}")


def test_checkpoints_for_other_games_or_options_are_refused(tmp_path: Path) -> None:
    agent = trained(tmp_path / "agent")
    message = f"game {OTHER}: the checkpoint {agent} plays {GAME} only"
    refused(azumaya("evaluate", agent, "random", "--game", OTHER), message)
    refused(azumaya("play", OTHER, "--second", agent), message)
    for words in (("evaluate", agent, "random"), ("play", "--second", agent)):
        result = azumaya(*words, "--option", "setup=choose")
        refused(result, "its network has 729 actions", "{'setup': 'choose'} has 733")


def test_a_policy_refuses_positions_of_other_games(tmp_path: Path) -> None:
    agent = PolicyAgent.load(trained(tmp_path / "agent"))
    with pytest.raises(sidecar_module.CheckpointError, match=f"cannot play azumaya/{OTHER}"):
        agent.act([Position(OTHER)], [0])
    with pytest.raises(sidecar_module.CheckpointError, match="729 actions"):
        agent.act([Position(GAME, setup="choose")], [0])


def test_unknown_agents_are_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    policy = trained(run / "policy")
    for name in ("resume", "odd"):  # as in a run, where other weights lie beside the same sidecar
        weights, sidecar = checkpoint.load(policy)
        checkpoint.save(run / name, {f"policy.{k}": v for k, v in weights.items()}, sidecar)
    (run / "odd.json").write_text("{}")
    for words, messages in (
        (("evaluate", "random", "--game", "nope"), ("game 'nope': no such game", OTHER)),
        (("evaluate", run / "resume"), ("not the weights", f"the agent of this run is {policy}")),
        (("evaluate", run), ("agent", f"did you mean {policy}?")),
        (("evaluate", "."), ("agent '.'", "a checkpoint's path")),
        (("evaluate", run / "odd"), ("odd.json: malformed: no game, num_actions",)),
        (("evaluate", "human"), ("a person cannot be evaluated: agent 'human': must be random,",)),
        (("evaluate", "random", "nope"),
         ("agent 'nope': must be random, greedy, champion, champion-net,", "a checkpoint's path",
          "there is no checkpoint at this path")),
        (("play", "--second", "nope"), ("agent 'nope': must be human, random, greedy,",)),
        (("play", "--second", "greedi"), ("did you mean 'greedy'? ",)),
        (("play", "--second", "no_such:Class"), ("No module named 'no_such' ",)),
        (("evaluate", "uct:many"), ("agent 'uct:many': write uct:1000",)),
        (("play", "--second", "alphabeta:0ms"), ("agent 'alphabeta:0ms'", "numbers are above 0")),
        (("evaluate", "alphabeta:9", "--game", "sudoku_tiles"),
         ("hidden from both players", "search with UCT")),
        (("evaluate", "random", "--option", "max=3"), ("'max': Sudoku Moyo has no such option",)),
        (("evaluate", "random", "--seed", 2**64 - 1), (f"seed={2**64 - 1}, starts=200: ",)),
        (("play", "nope"), ("game 'nope': no such game",)),
        (("play", "--seed", "-1"), ("seed=-1",)),
        (("play", "--position", "x", "--option", "position=x"), ("give it once",)),
    ):  # fmt: skip
        refused(azumaya(*words), *messages)


def test_a_module_of_games_that_cannot_be_imported_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AZUMAYA_GAMES", "not_there")
    message = "game 'nope': AZUMAYA_GAMES=not_there: cannot be imported"
    for words in (("play", "nope"), ("analyse", "nope"), ("evaluate", "random", "--game", "nope")):
        refused(azumaya(*words), message)


def test_a_checkpoint_with_bad_options_is_refused(tmp_path: Path) -> None:
    agent = trained(tmp_path / "agent")
    text = agent.with_suffix(".json").read_text()
    agent.with_suffix(".json").write_text(text.replace('"options": {}', '"options": {"a": 1}'))
    refused(
        azumaya("evaluate", agent),
        f"checkpoint {agent}: its options do not fit: unexpected keyword argument 'a'",
    )


# ---- records ----


def test_evaluate_records_its_games(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    words = ("evaluate", "random", "greedy", "--game", OTHER, "--option", "max_plies=3")
    result = azumaya(*words, "--starts", 2, "--record", file)
    assert result.exit_code == 0, result.output
    records = list(read_records(file))
    assert [r.players for r in records] == [("random", "greedy"), ("greedy", "random")] * 2
    assert all(r.options["max_plies"] == 3 and len(r.moves) == 3 for r in records)
    refused(azumaya(*words, "--record", tmp_path), "--record=", "folder")


@pytest.mark.parametrize("place", ["", "none/games.jsonl", "file/games.jsonl"])
def test_an_unwritable_record_is_refused_before_the_game(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("mine")
    result = azumaya("play", "--record", tmp_path / place, say="quit\n")
    refused(result, "--record=", "folder")
    assert "player_0" not in result.output
    assert [f.name for f in tmp_path.iterdir()] == ["file"]


def test_a_finished_game_is_recorded(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    words = ("--first", "random", "--second", "random", "--option", "max_plies=3")
    assert azumaya("play", OTHER, *words, "--record", file).exit_code == 0
    record = next(read_records(file))
    assert record.finished
    assert len(record.moves) == 3
    assert record.options["max_plies"] == 3
    assert list(replay(record))[-1].is_over


def test_the_last_move_is_marked() -> None:
    position = Position(GAME, seed=1)
    action = position.legal_actions()[0]
    move = position.move_name(action)
    said = azumaya("play", "--second", "human", "--seed", 1, say=f"{move}\nundo\nquit\n").output
    drawn = position.copy().play(action).draw(colour=False, last_action=action)
    assert "> last move" in drawn
    assert drawn in said
    assert said.count("> last move") == 1, "nor is one marked at the start, or when it is undone"
    words = ("play", OTHER, "--first", "random", "--second", "random", "--option", "max_plies=1")
    assert "> last move" in azumaya(*words).output


@pytest.mark.parametrize("end", ["quit\n", ""])
def test_an_unfinished_game_is_recorded(tmp_path: Path, end: str) -> None:
    file, words = tmp_path / "games.jsonl", ("--second", "human", "--seed", "1")
    moves = []
    position = Position(GAME, seed=1)
    for _ in range(3):
        moves.append(position.legal_moves()[0])
        position.play(moves[-1])
    said = "\n".join([*moves[:2], "", "undo", "nonsense", *moves]) + "\n" + end
    result = azumaya("play", *words, "--record", file, say=said)
    assert result.exit_code == 0, result.output
    assert "left after 3 moves" in result.output
    assert f"{file}: the game added, unfinished" in result.output
    record = next(read_records(file))
    assert list(record.moves) == moves
    assert not record.finished
    assert list(replay(record))[-1] == position


def test_ctrl_c_keeps_the_game_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = iter([Position(GAME, seed=1).legal_moves()[0]])

    def ask(prompt: str) -> str:
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr(play_commands, "ask", ask)
    file = tmp_path / "games.jsonl"
    result = azumaya("play", "--second", "human", "--seed", 1, "--record", file)
    assert result.exit_code == 130
    assert len(next(read_records(file)).moves) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signal")
def test_a_window_that_is_closed_keeps_the_game_too(tmp_path: Path) -> None:
    file, move = tmp_path / "games.jsonl", Position(GAME, seed=1).legal_moves()[0]
    words = ("play", GAME, "--second", "human", "--seed", "1", "--record", str(file))
    with subprocess.Popen(
        [sys.executable, "-m", "azumaya", *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{move}\n")
        process.stdin.flush()
        said = ""
        while "player_1: " not in said:
            part = process.stdout.read(1)
            assert part, said
            said += part
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGHUP
    assert list(next(read_records(file)).moves) == [move]


def test_playing_leaves_the_signals_of_others_alone() -> None:
    before = [signal.getsignal(number) for number in ENDING]
    assert azumaya("play", say="quit\n").exit_code == 0
    assert [signal.getsignal(number) for number in ENDING] == before


def test_a_game_without_moves_is_not_recorded(tmp_path: Path) -> None:
    result = azumaya("play", "--record", tmp_path / "games.jsonl", say="quit\n")
    assert result.exit_code == 0
    assert "nothing to record" in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_cannot_be_written_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(play_commands, "write_records", full)
    words = ("--first", "random", "--second", "random", "--option", "max_plies=1")
    result = azumaya("play", OTHER, *words, "--record", tmp_path / "games.jsonl")
    assert result.exit_code == 1
    assert "No space left" in result.stderr
    assert '"moves":[' in result.stdout


# ---- before any command ----


def test_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert azumaya("--version").output == f"azumaya {importlib.metadata.version('azumaya')}\n"

    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert version.version() == sys.modules["azumaya"].__version__
    monkeypatch.delattr(sys.modules["azumaya"], "__version__")
    assert version.version() == "unknown"
    assert sidecar_module.Sidecar("g", 1, (), "n", {}).azumaya == "unknown"


def test_the_command_as_a_module(tmp_path: Path) -> None:
    """The package works where the script `azumaya` is not on the path."""
    done = python("-m", "azumaya", "--help", cwd=tmp_path, check=True)
    assert "python -m azumaya" in " ".join(done.stdout.split())


def test_the_error_for_a_missing_extra_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "azumaya.baselines.cli.app")
    handler = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as end:
            cli.main()
    finally:
        signal.signal(signal.SIGINT, handler)  # that of a program would end the tests at Ctrl-C
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "cli" in said
    assert said.startswith("azumaya: this needs the package 'typer'")
    assert said.count("\n") == 1


@pytest.mark.parametrize("word", ["help", "?", "rules"])
def test_the_rules_can_be_asked_for_while_one_plays(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = os.terminal_size((80, 24))
    monkeypatch.setattr(play_commands.shutil, "get_terminal_size", lambda *usual: size)
    said = azumaya("play", "--seed", 1, say=f"{word}\nquit\n").output
    assert "5. A player who is to move and cannot" in said
    assert f"A move here: {Position(GAME, seed=1).legal_moves()[0]}." in said
    assert max(map(len, said.splitlines())) < 100  # the legend of the board is not folded


def test_what_is_no_move_is_answered_with_the_form_of_one() -> None:
    said = " ".join(azumaya("play", "--seed", 1, say="helpp\nquit\n").output.split())
    assert "'helpp' is not a move; write a digit and a square, such as 5e4." in said


def test_a_game_ends_with_a_sentence() -> None:
    said = azumaya("play", "--game", "vierer_dominari", "--first", "random", "--seed", 1).output
    assert re.search(r"\n(player_[01] \((white|black), \w+\) wins|The game is a draw)\.\n$", said)
