"""`azumaya play`: play in the terminal against an agent or another person."""

from __future__ import annotations

import secrets
import shutil
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.agents.asking import move_of
from azumaya.baselines.agents.names import NAMES_HELP, example_agents
from azumaya.baselines.arena.entrants import HUMAN, choose_game, find_entrant, first_position
from azumaya.baselines.arena.report import counted
from azumaya.baselines.cli.evaluate import GameOption, Options
from azumaya.baselines.cli.terminal import complaints, waiting, wrote
from azumaya.baselines.play.table import Table
from azumaya.baselines.play.words import paragraphs, sides
from azumaya.baselines.search.analysis import HINT_MILLISECONDS, analyse, summary
from azumaya.baselines.system.signals import DONE, FAILED, INTERRUPTED, ended_by_signals
from azumaya.envs import MoveNameError, OptionError
from azumaya.envs.notation import check_records_file, write_records
from azumaya.envs.setup import POSITION

HELP = "a move, or: help, moves, why MOVE, hint, undo, text, quit"
LONGEST_LINE = 8
"""The most moves that a hint shows of its line of play."""


class LeaveError(Exception):
    """Raised when the person leaves the game."""


def _example_players() -> list[tuple[str, str]]:
    return [(HUMAN, "you"), *example_agents()]


def play(
    game: GameOption = None,
    first: Annotated[
        str,
        typer.Option(
            help=f"Who plays player_0: human, {NAMES_HELP}.", autocompletion=_example_players
        ),
    ] = HUMAN,
    second: Annotated[
        str,
        typer.Option(help="Who plays player_1; same choices.", autocompletion=_example_players),
    ] = "greedy",
    option: Options = None,
    seed: Annotated[
        int | None, typer.Option(help="The seed of the start position. Default: a random one.")
    ] = None,
    position: Annotated[str, typer.Option(help="Start from this position, given as text.")] = "",
    record: Annotated[
        Path | None,
        typer.Option(help="Append a record of the game to this file, even if it is unfinished."),
    ] = None,
) -> None:
    """Play a game in the terminal against the computer or another person."""
    chosen = secrets.randbits(31) if seed is None else seed
    with complaints():
        players = find_entrant(first), find_entrant(second)
        found, options = choose_game(players, game, option or ())
        if position and any(text.startswith(f"{POSITION}=") for text in option or ()):
            raise OptionError("position: given by --position and by --option; give it once")
        options |= {POSITION: position} if position else {}
        start = first_position(players, found, options, chosen)
        file = None if record is None else check_records_file(record, "--record")
    tell(f"{start.game.title}, seed {chosen}{_with(options)}. Type {HELP}")
    table = Table(players, chosen, [start])
    with ended_by_signals():  # such as that of a window that is closed
        try:
            code = _play_on(table)
        finally:  # an agent may have failed
            if file is not None:
                _keep(table, file)
    raise typer.Exit(code)


def _with(options: dict[str, object]) -> str:
    words = [f"{name}={value}" for name, value in options.items() if name != POSITION]
    return f", {' '.join(words)}" if words else ""


def _play_on(table: Table) -> int:
    """Play until the game is over or the person leaves; returns the exit code."""
    try:
        while not table.here.is_over:
            move = _choose(table)
            if move is not None:
                table.play(move)
    except (LeaveError, EOFError, KeyboardInterrupt) as end:
        newline = "" if isinstance(end, LeaveError) else "\n"
        made = counted(len(table.moves), "move")
        typer.echo(f"{newline}left after {made}; the game is unfinished")
        return INTERRUPTED if isinstance(end, KeyboardInterrupt) else DONE
    draw(table)
    tell(_result(table))
    return DONE


def _result(table: Table) -> str:
    """Who has won, in a sentence."""
    returns = table.here.returns()
    if returns[0] == returns[1]:
        return "The game is a draw."
    winner = int(returns[1] > returns[0])
    points = f" by {abs(returns[winner]):g} points" * (abs(returns[winner]) > 1)
    return f"{_called(table, winner)} wins{points}."


def _called(table: Table, player: int) -> str:
    """A player with the side of the game and who plays it."""
    side = sides(table.here)[player]
    return f"player_{player} ({side}, {table.players[player].name})"


def tell(text: str) -> None:
    """Print text whose lines end between words."""
    width = shutil.get_terminal_size().columns
    for line in text.splitlines():
        typer.echo(textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False))


def draw(table: Table) -> None:
    """Draw the position on the table."""
    drawn = table.here.draw(last_action=table.last_action)
    typer.echo(drawn, color=True)  # `draw` adds colours only where they are wanted


def _keep(table: Table, file: Path) -> None:
    """Append a record of the game, as far as it was played, to a file."""
    if not table.moves:
        typer.echo("no move was made: nothing to record")
        return
    record = table.record()
    try:
        write_records(file, [record])
    except OSError as error:
        typer.echo(f"{file} could not be written: {error.strerror}; this is the record:", err=True)
        typer.echo(record.to_json())
        raise typer.Exit(FAILED) from None
    wrote(file, "the game added" + ("" if record.finished else ", unfinished"))


def _choose(table: Table) -> str | None:
    """The move of the player to move; None if the person typed a command instead."""
    here = table.here
    player = table.players[here.to_move]
    agent = player.agent
    if agent is not None:
        with waiting(f"{player.name} is thinking"):
            move = move_of(agent, here, table.key, player.name)
        typer.echo(f"player_{here.to_move} ({player.name}): {move}")
        return move
    draw(table)
    return obey(ask(f"player_{here.to_move}: "), table)


def ask(prompt: str) -> str:
    """The next line of input that is not empty.

    Raises:
        EOFError: there are no more lines (Ctrl-D).
    """
    line = ""
    while not line:
        try:
            line = input(prompt).strip()
        except UnicodeDecodeError:
            typer.echo("this line is not text; type a move or a command")
    return line


def obey(line: str, table: Table) -> str | None:
    """Carry out what a person typed; returns the move if it was one.

    Raises:
        LeaveError: it was `quit`.
    """
    word, _, rest = line.partition(" ")
    try:
        if word in ("help", "?", "rules"):
            tell(_rules(table))
        elif word == "moves":
            tell(" ".join(table.here.legal_moves()))
        elif word == "why":
            tell(table.here.explain(rest.strip()))
        elif word == "hint":
            with waiting("searching"):
                found = _hint(table)
            tell(found)
        elif word == "text":
            typer.echo(str(table.here))
        elif word == "undo":
            if not table.undo():
                typer.echo("there is nothing to undo")
        elif word == "quit":
            raise LeaveError
        else:
            table.here.copy().play(line)
            return line
    except MoveNameError as error:
        said = str(error).removeprefix("name=").replace(": must be", " is not a move; write", 1)
        tell(f"{said}. Type {HELP}")
    except ValueError as error:
        tell(f"{error}. Type {HELP}")
    return None


def _rules(table: Table) -> str:
    """The rules, the form of a move in this position, and the commands."""
    here = table.here
    example = next(iter(here.legal_moves()))
    rules = paragraphs(here.game.words.how_to_play)
    return "\n".join([*rules, f"A move here: {example}. Type {HELP}"])


def _hint(table: Table) -> str:
    """The result of a short search: the best move, its value and a line of play."""
    found = analyse(table.here, milliseconds=HINT_MILLISECONDS, key=table.key)
    return f"{summary(found)}; line: {' '.join(found.pv[:LONGEST_LINE])}"
