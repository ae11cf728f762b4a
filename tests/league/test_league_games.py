"""Games of a league: who plays whom, faults, programs, agreement with pairings."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from azumaya.baselines import find_agent
from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.agents.sidecar import SUFFIXES
from azumaya.baselines.arena.league import games
from azumaya.baselines.arena.league.cards import CHANGED, AgentCard, card_of
from azumaya.baselines.arena.league.crew import Outcome, PairJob, play_pair
from azumaya.baselines.arena.league.games import NOBODY, Board, Table, Watched
from azumaya.baselines.arena.league.league import join, play_league, sitting_out
from azumaya.baselines.arena.league.results import (
    LeagueFile,
    PairKey,
    PairResult,
    read_league,
)
from azumaya.baselines.arena.league.schedule import Plan, missing
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.values import champion
from azumaya.envs import GAMES, OptionError, Position
from tests.cases import nightly
from tests.league.playing import FIRST_LEGAL, GAME, job_of, league_here, play_here
from tests.odd_agents import ODD, UNMADE

pytestmark = pytest.mark.usefixtures("beside_the_agents")


def named(*names: str) -> dict[str, Any]:
    """The agents of a job, whose ids are their names."""
    return {"agents": names, "ids": names}


def test_results_are_those_of_pairings(tmp_path: Path) -> None:
    """Start and seat for seat, whoever comes first."""
    path = tmp_path / "league.jsonl"
    league_here(path, ["greedy", "random", "uct:20"], pairs=4)
    found = read_league(path)
    assert len(found.pairs) == 3 * 4
    for first, second in (("greedy", "random"), ("random", "uct:20")):
        score = play_pairing(GAME, find_agent(first), find_agent(second), 4)
        mine = [p.results for k, p in found.pairs.items() if (k.first, k.second) == (first, second)]
        assert [sum(r[seat] == 1 for r in mine) for seat in (0, 1)] == list(score.by_seat)
        assert [sum(r[seat] == 0 for r in mine) for seat in (0, 1)] == list(score.draws_by_seat)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("Raises", "ValueError: [red]what[/b] it says"),
        ("Exits", "SystemExit: 1"),
        ("Illegal", "action=1000000000: not an action of"),
        ("Silent", "act returned None for 1 positions"),
        ("Lazy", "SystemExit: 0"),
        ("Unspeakable", "Secret: its text cannot be shown (KeyboardInterrupt)"),
        ("Wordless", "TypeError: act gave [], which is no move"),
    ],
)
def test_a_fault_loses_the_game(name: str, what: str) -> None:
    job = job_of([f"{ODD}:{name}:1", "greedy"])
    key = PairKey(GAME, 0, *job["ids"])
    pair = play_pair(
        PairJob(key, tuple(job["agents"]), tuple(job["kinds"]), 0, True, 60.0), Table().play
    )
    assert isinstance(pair, PairResult)
    assert pair.results == (-1, -1)
    for fault in pair.faults:
        assert fault is not None
        assert fault[0] == 0
        assert what in fault[1]


def test_a_league_goes_on_after_a_fault(tmp_path: Path) -> None:
    path, agent = tmp_path / "league.jsonl", f"{ODD}:Raises:1"
    league_here(path, [agent, "greedy"])
    league = read_league(path)
    (odd,) = (card.id for card in league.cards.values() if card.name == agent)
    assert len(league.pairs) == 3
    for key, pair in league.pairs.items():
        if odd not in (key.first, key.second):
            assert pair.faults == (None, None)
            continue
        own = (key.first, key.second).index(odd)
        for result, fault in zip(pair.results, pair.faults, strict=True):
            assert fault is not None
            assert fault[0] == own
            assert "ValueError: [red]what[/b] it says" in fault[1]
            assert result == (-1 if own == 0 else 1)


def test_an_agent_that_cannot_be_made_sits_out_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether that is found before games are played, or by those who play them."""
    file, name = LeagueFile(tmp_path / "league.jsonl"), f"{ODD}:Unmade"
    (card,) = join(file, [name], [GAME])
    join(file, ["greedy"], [GAME])

    def broken_by_now(jobs: Iterable[PairJob]) -> Iterator[Outcome]:
        monkeypatch.setenv(UNMADE, "raises")
        return play_here(jobs)

    with pytest.warns(UserWarning, match=rf"{card.id} sits out: cannot be made: .*SystemExit") as w:
        play_league(file, Plan((GAME,), 2), broken_by_now)
    assert len(w) == 1, "it is said once"
    assert [(key.first, key.second) for key in file.league.pairs] == [("greedy", "random")] * 2
    with pytest.warns(UserWarning, match=rf"{card.id} sits out: cannot be made: "):
        play_league(file, Plan((GAME,), 3), play_here)
    assert len(file.league.pairs) == 3
    monkeypatch.delenv(UNMADE)
    play_league(file, Plan((GAME,), 3), play_here)
    assert len(file.league.pairs) == 3 * 3
    assert all(pair.faults == (None, None) for pair in file.league.pairs.values())
    file.close()


def test_an_agent_that_failed_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its object may fail in every later game, too."""
    table, job = Table(), job_of([f"{ODD}:Raises:1", "greedy"])
    made: list[str] = []

    def find(name: str) -> Any:
        made.append(name)
        return find_agent(name)

    monkeypatch.setattr(games, "find_agent", find)
    for _ in range(2):
        assert table.play(job)["fault"][0] == 0
    assert made == [f"{ODD}:Raises:1", "greedy", f"{ODD}:Raises:1"]


def test_only_the_agent_with_the_id_of_a_job_plays_it() -> None:
    """Whoever has its name."""
    job = job_of(["greedy", "random"])
    assert Table().play(job)["fault"] is None
    table = Table()
    for _ in range(2):
        assert table.play({**job, "ids": ["greedy@0a1b", "random"]}) == {
            "unfit": (0, "its files have changed")
        }
    assert table.play(job)["fault"] is None


def test_agents_that_are_missing_sit_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of modules, checkpoints and programs, also if only a file of theirs is missing."""
    monkeypatch.chdir(tmp_path)
    bot = tmp_path / "bot.py"
    bot.write_text(FIRST_LEGAL)
    program = card_of(f"program:{sys.executable} bot.py", [GAME])
    cards = [
        AgentCard(name, "python", "0a1b", None, (GAME,))
        for name in ("no_such_module:Bot", "runs/policy", "program:./nothing", "uct:5")
    ]
    greedy = card_of("greedy", [GAME])
    found = sitting_out([greedy, program, *cards])
    assert found.keys() == {card.id for card in cards}
    why = list(found.values())
    assert "importing no_such_module failed" in why[0]
    assert "cannot be made: OptionError: agent 'runs/policy'" in why[1]
    assert "no program './nothing' can be run" in why[2]
    assert why[3] == "its files have changed"
    bot.unlink()
    assert sitting_out([greedy, program]) == {program.id: "its files have changed"}


def test_all_code_of_an_agent_is_watched(board: Board) -> None:
    """Also what runs when its answer is read, and when it is made."""
    seen = []

    class Number:
        def __index__(self) -> int:
            seen.append(board.read()[0])
            return 7

    class Lazy:
        def act(self, positions: Any, keys: Any) -> Any:
            seen.append(board.read()[0])
            yield Number()
            seen.append(board.read()[0])

    assert Watched(Lazy(), 1, board, 0.0).act([Position(GAME)], [0]) == [7]
    assert seen == [1, 1, 1]
    assert board.read()[0] == NOBODY
    table, found = Table(board), find_agent("greedy")

    def watched(name: str) -> Any:
        seen.append(board.read()[0])
        return found

    job = job_of(["a", "b"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(games, "find_agent", watched)
        assert table.play(job)["fault"] is None
    assert seen[3:] == [0, 1]
    job = job_of([f"{ODD}:Interrupts:1", "greedy"])
    assert table.play(job)["fault"] == (0, "KeyboardInterrupt"), "it is the agent's own"


WRITES = """
import sys
from azumaya.baselines.arena.league.games import NOBODY, Board
board = Board(int(sys.argv[1]))
for _ in range(200_000):
    board.write(0, making=True)
    board.write(NOBODY)
    board.write(1, 6000.0)
"""


def test_a_board_is_read_whole_while_another_process_writes_it() -> None:
    """A torn read would be an agent that has been thinking for as long as the machine runs."""
    with tempfile.TemporaryFile() as file:
        file.truncate(Board.SIZE)
        board, number = Board(file.fileno()), file.fileno()
        board.write(NOBODY)
        seen = set()
        with subprocess.Popen([sys.executable, "-c", WRITES, str(number)], pass_fds=(number,)) as w:
            while w.poll() is None:
                which, seconds, making = board.read()
                seen.add((which, making, round(seconds, -2)))
    assert w.returncode == 0
    times = {(NOBODY, False): 0, (0, True): 0, (1, False): -6000}
    assert {look[:2]: look[2] for look in seen if times.get(look[:2]) != look[2]} == {}
    assert {look[:2] for look in seen} == times.keys()
    board.close()


def test_an_agent_keeps_the_grace_of_its_first_move_if_its_opponent_fails_before_it(
    board: Board,
) -> None:
    """Whoever has not moved yet may still have to be compiled."""
    graces = []

    class Slow:
        def act(self, positions: Any, keys: Any) -> Any:
            graces.append(board.read()[1] < 0)
            return [position.legal_actions()[0] for position in positions]

    class Fails:
        def act(self, positions: Any, keys: Any) -> Any:
            raise KeyError

    agents = {"fails": Fails(), "slow": Slow(), "other": Slow()}
    table, job = Table(board), job_of(["", ""])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(games, "find_agent", agents.get)
        patch.setattr(games, "identity", lambda name, agent: name)
        patch.setitem(games.GRACE, "python", 7000.0)
        assert table.play({**job, **named("fails", "slow")})["fault"] == (0, "KeyError")
        assert graces == []
        assert table.play({**job, **named("other", "slow")})["fault"] is None
        first = len(graces)
        assert graces == [True, True] + [False] * (first - 2)
        table.play({**job, **named("slow", "other")})
        assert not any(graces[first:])


def test_who_joins_later_plays_only_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "league.jsonl"
    league_here(path, ["greedy"], pairs=2)
    before = path.read_bytes()
    file = LeagueFile(path)
    (card,) = join(file, [f"{ODD}:Fine"], [GAME])
    jobs = list(missing(file.league, Plan((GAME,), 3, only=frozenset([card.id]))))
    assert {(job.key.number, *job.agents) for job in jobs} == {
        (number, *sorted([f"{ODD}:Fine", other]))
        for number in range(3)
        for other in ("greedy", "random")
    }
    play_league(file, Plan((GAME,), 2, only=frozenset([card.id])), play_here)
    file.close()
    assert path.read_bytes().startswith(before)
    assert len(read_league(path).pairs) == 2 * 3


def test_agents_play_only_what_they_can() -> None:
    card = card_of("alphabeta:10", GAMES)
    assert set(card.games) == set(GAMES) - {"sudoku_tiles"}
    with pytest.raises(OptionError, match="alphabeta:10: plays none of the league's games: "):
        card_of("alphabeta:10", ["sudoku_tiles"])


OWN = """
from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.values.champion import ChampionAgent
from azumaya.baselines.values.value import ValueAgent
from other_module import Other

class Own(RandomAgent):
    def __init__(self, *arguments):
        self.files = arguments and arguments[0].split(",")

class Given(RandomAgent):
    def __init__(self, argument):
        pass

def loaded():
    return ValueAgent.load("value")
"""


@pytest.fixture
def own(beside_the_agents: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with modules of agents, a program, and files that they may use."""
    monkeypatch.chdir(tmp_path)
    for module in ("own", "other_module"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    Path("own.py").write_text(OWN)
    Path("other_module.py").write_text("class Other:\n    def act(self, positions, keys): ...\n")
    Path("folder/deep").mkdir(parents=True)
    for file in ("weights.bin", "more.bin", "folder/deep/weights.bin", "bot.py"):
        Path(file).write_bytes(b"old")
    for suffix in SUFFIXES:
        shutil.copy(champion.DATA / f"{GAME}{suffix}", f"value{suffix}")
    return tmp_path


FILES_OF = [
    ("own:Given:weights.bin", "weights.bin"),
    ("own:Given:value", "value.safetensors"),
    ("own:Given:value.safetensors", "value.json"),
    ("own:Given:folder", "folder/deep/weights.bin"),
    ("own:Own:weights.bin,more.bin", "more.bin"),
    ("own:Own:weights.bin,folder", "folder/deep/weights.bin"),
    ("own:loaded", "value.json"),
    ("own:GreedyAgent", "own.py"),
    ("own:ChampionAgent", "own.py"),
    ("own:Other", "own.py"),
    ("own:Other", "other_module.py"),
    (f"program:{sys.executable} bot.py", "bot.py"),
]
"""Agents, and for each a file of which it is made."""


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(("name", "changed"), FILES_OF)
def test_an_agent_with_other_files_is_another_agent(name: str, changed: str) -> None:
    """Files of its argument, that it names, that the library has loaded, and sources of modules."""
    before = card_of(name, [GAME])
    Path("folder/__pycache__").mkdir()
    Path("folder/__pycache__/own.pyc").touch()
    assert card_of(name, [GAME]) == before
    with Path(changed).open("ab") as file:
        file.write(b" ")
    after = card_of(name, [GAME])
    assert after.name == before.name
    assert len({before.digest, after.digest, "", card_of("champion", [GAME]).digest}) == 4


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(("name", "changed"), nightly(FILES_OF, ("other_module.py",)))
def test_an_agent_whose_files_have_changed_sits_out(name: str, changed: str) -> None:
    """A process that has not loaded the old ones finds the same."""
    before = card_of(name, [GAME])
    with Path(changed).open("ab") as file:
        file.write(b" ")
    assert sitting_out([before, card_of(name, [GAME])]) == {before.id: CHANGED}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ("not.there", r"agent own:Own:not.there: files: there is no file not.there"),
        ("", r"agent own:Own: files=5: must be a list of paths"),
    ],
)
def test_files_that_are_none_are_refused(files: str, message: str, own: Path) -> None:
    (own / "own.py").write_text(OWN.replace("arguments and", "5 if not arguments else"))
    with pytest.raises(OptionError, match=message):
        card_of(f"own:Own:{files}".rstrip(":"), [GAME])


def test_a_league_takes_names_not_objects(tmp_path: Path) -> None:
    """It makes its agents anew in other processes."""
    with contextlib.closing(LeagueFile(tmp_path / "league.jsonl")) as file:
        for given in (RandomAgent(), None, Path("net")):
            with pytest.raises(OptionError, match=r"^names: .*: must be the name of an agent"):
                join(file, ["greedy", given], [GAME])  # type: ignore[list-item]
        assert not file.league.cards


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_words_of_a_command_that_name_pipes_or_devices_are_not_read(tmp_path: Path) -> None:
    """They may never end, and a pipe may have no writer."""
    pipe, bot = tmp_path / "pipe", tmp_path / "bot.py"
    os.mkfifo(pipe)
    bot.write_bytes(b"x" * (1 << 20))
    plain = card_of(f"program:cat {bot}", [GAME])
    for word in (pipe, "/dev/zero", "x" * 5000):
        assert card_of(f"program:cat {word} {bot}", [GAME]).digest == plain.digest
    assert (
        plain.digest == hashlib.sha256(hashlib.sha256(bot.read_bytes()).digest()).hexdigest()[:12]
    )


def test_champions_are_other_agents_with_other_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their budgets, and whichever game's value has changed."""
    before = card_of("champion", [GAME]).digest
    assert before
    assert card_of("champion:10ms", [GAME]).digest == before
    data = tmp_path / "data"
    shutil.copytree(champion.DATA, data)
    monkeypatch.setattr(champion, "DATA", data)
    assert card_of("champion", [GAME]).digest == before
    with (data / "abalone.json").open("a") as file:
        file.write(" ")
    assert card_of("champion", [GAME]).digest not in ("", before)


@pytest.mark.parametrize(
    ("name", "measured", "expected"),
    [
        ("uct:10ms", 14.0, "10 ms"),
        ("uct:0.5ms", None, "1 ms"),
        ("uct:1000", 1.4, "1 ms"),
        ("uct:1000", 1.6, "10 ms"),
        ("uct:1000", 151.0, "slower"),
        ("alphabeta:100ms", 1.0, "100 ms"),
        ("random", None, ""),
    ],
)
def test_classes_of_time(name: str, measured: float | None, expected: str) -> None:
    assert card_of(name, [GAME]).time_class(measured) == expected


def test_pairs_are_played_in_an_order_that_is_even_when_stopped(tmp_path: Path) -> None:
    file = LeagueFile(tmp_path / "league.jsonl")
    games = (GAME, "score_dominari")
    join(file, ["greedy", "uct:5"], games)
    keys = [job.key for job in missing(file.league, Plan(games, 2))]
    assert [key.number for key in keys] == [0] * 6 + [1] * 6
    assert keys[0] == PairKey(GAME, 0, "greedy", "random")
    assert {key.game for key in keys[:6]} == set(games)
    play_league(file, Plan((GAME,), 2, minutes=0), play_here)
    assert not file.league.pairs
    file.close()
