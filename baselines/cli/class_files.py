"""What `azumaya class` writes for students: starter files and notebooks without solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from azumaya.baselines.arena.game_options import game_named, named_games
from azumaya.baselines.classroom.handout import starter_text, write_notebooks
from azumaya.baselines.cli.terminal import complaints, wrote
from azumaya.baselines.system.files import shown, write_whole
from azumaya.envs import GAMES, OptionError
from azumaya.envs.errors import naming

GameName = Annotated[
    str, typer.Option("--game", help=f"The game: {', '.join(GAMES)}.", autocompletion=named_games)
]


def starter_command(
    game: GameName,
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist.")],
) -> None:
    """Write a file for students to begin with: a random agent, and what they need to know."""
    with complaints():
        text = starter_text(game_named(game).name)
        try:
            with naming(file), file.open("x", encoding="utf-8") as opened:
                opened.write(text)
        except FileExistsError:
            raise OptionError(f"{shown(file)}: exists; name another file") from None
    wrote(file, f"a random agent for {game}; write your own in it")


def handout_command(
    notebooks: Annotated[
        Path, typer.Argument(help="The folder of notebooks, such as docs/course.")
    ],
    output: Annotated[
        Path, typer.Option(help="The folder for students; made if it does not exist.")
    ],
    game: Annotated[
        list[str] | None,
        typer.Option(
            help="Also write the starter file of this game, with its rules. Repeat for more.",
            autocompletion=named_games,
        ),
    ] = None,
) -> None:
    """Write what students get: notebooks without solutions and results, and starter files."""
    with complaints():
        names = [game_named(name).name for name in dict.fromkeys(game or ())]
        for file in write_notebooks(notebooks, output):
            wrote(file, "without solutions")
    for name in names:
        file = output / f"starter_{name}.py"
        write_whole(file, starter_text(name).encode())
        wrote(file, "a random agent, and the rules")
