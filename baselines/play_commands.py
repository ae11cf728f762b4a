"""`azumaya play`: a board in the terminal, against an agent or another person."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.agents import Agent, GreedyAgent, RandomAgent
from azumaya.envs import GAMES, Position
from azumaya.envs.notation import record_of, write_records
from azumaya.envs.position import episode_key

HELP = "a move, or: moves, why MOVE, undo, text, quit"


def agent_of(name: str) -> Agent | None:
    """The agent of a name: `random`, `greedy`, `human` (None), or a checkpoint's path.

    Raises:
        typer.BadParameter: it is none of these.
    """
    known: dict[str, Agent | None] = {
        "human": None,
        "random": RandomAgent(),
        "greedy": GreedyAgent(),
    }
    if name in known:
        return known[name]
    if Path(name).with_suffix(".safetensors").is_file():
        from azumaya.baselines.agents.policy import PolicyAgent  # noqa: PLC0415 - needs torch

        return PolicyAgent.load(name)
    raise typer.BadParameter(f"{name!r}: must be {', '.join(known)} or a checkpoint's path")


def play(
    game: Annotated[str, typer.Argument(help=f"One of {', '.join(GAMES)}.")] = "sudoku_moyo",
    first: Annotated[str, typer.Option(help="Who plays player_0.")] = "human",
    second: Annotated[str, typer.Option(help="Who plays player_1.")] = "greedy",
    seed: Annotated[int | None, typer.Option(help="Draws the start; by default at random.")] = None,
    position: Annotated[str, typer.Option(help="A position text to start from.")] = "",
    record: Annotated[Path | None, typer.Option(help="Append the game to this file.")] = None,
) -> None:
    """Play a game in the terminal: human, random, greedy, or a trained agent's checkpoint."""
    agents = (agent_of(first), agent_of(second))
    chosen = secrets.randbits(31) if seed is None else seed
    try:
        start = Position(game, seed=chosen, position=position or None)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    history, moves = [start], list[str]()
    typer.echo(f"{start.game.title}, seed {chosen}. {HELP}")
    while not history[-1].is_over:
        here = history[-1]
        move = _choose(here, agents[here.to_move], history, moves, chosen)
        if move is None:
            continue
        history.append(here.copy().play(move))
        moves.append(move)
    typer.echo(history[-1].draw())
    typer.echo(f"returns: {history[-1].returns()}")
    if record is not None:
        write_records(record, [record_of(start, moves, history[-1], (first, second))])
        typer.echo(f"recorded in {record}")


def _choose(
    here: Position, agent: Agent | None, history: list[Position], moves: list[str], seed: int
) -> str | None:
    """The move of whoever is to move; None after a command of the person."""
    if agent is not None:
        key = int(episode_key(seed, 0, len(history)))
        action = agent.act([here.resample_hidden(key)], [key])[0]
        typer.echo(f"player_{here.to_move} ({agent.name}): {here.move_name(action)}")
        return here.move_name(action)
    typer.echo(here.draw())
    return _obey(typer.prompt(f"player_{here.to_move}").strip(), here, history, moves)


def _obey(line: str, here: Position, history: list[Position], moves: list[str]) -> str | None:
    word, _, rest = line.partition(" ")
    try:
        if word == "moves":
            typer.echo(" ".join(here.legal_moves()))
        elif word == "why":
            typer.echo(here.explain(rest.strip()))
        elif word == "text":
            typer.echo(str(here))
        elif word == "undo":
            _undo(here, history, moves)
        elif word == "quit":
            raise typer.Exit
        else:
            here.copy().play(line)
            return line
    except ValueError as error:
        typer.echo(f"{error} ({HELP})")
    return None


def _undo(here: Position, history: list[Position], moves: list[str]) -> None:
    """Go back to where the same player was last to move."""
    earlier = [i for i, position in enumerate(history[:-1]) if position.to_move == here.to_move]
    if not earlier:
        typer.echo("there is nothing to undo")
        return
    del history[earlier[-1] + 1 :], moves[earlier[-1] :]
