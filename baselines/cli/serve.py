"""`azumaya serve`: the board in the browser."""

from __future__ import annotations

import errno
import os
import re
import socket
import sqlite3
import threading
import webbrowser
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azumaya.baselines.agents.names import example_agents
from azumaya.baselines.play.server.limits import Limits
from azumaya.baselines.system.commands import time_option
from azumaya.baselines.system.files import check_folder, reason, shown
from azumaya.envs import OptionError
from azumaya.envs.extras import require

if TYPE_CHECKING:
    from azumaya.baselines.play.server.store import Store

PORT = 8123
STATE_FILE = "games.sqlite3"
ANY = frozenset({"0.0.0.0", "::", ""})
"""Addresses that mean every network the machine is on."""
TAKEN = frozenset({errno.EADDRINUSE, errno.EACCES})
"""Errors of a port that is in use or reserved."""
SECONDS_TO_OPEN = 0.4
MOST_CONNECTIONS = 8_000
"""Connections and requests at once; more are refused with status 503."""
MOST_OF_ONE = 400
"""Those of one address: enough for a class behind one router, whose browsers open up to six."""

HOST_NAME = re.compile(r"[\w.-]+|\[[\da-fA-F:.]+\]")
"""A name or an address, as browsers say it."""
IDLE_SECONDS = 30
"""A connection is closed if no request comes for so long, or one does not come to its end."""
SECONDS_TO_FINISH = 3
"""Requests that are being answered get so long when the server is to end."""
OTHER_FILES = 200
"""Open files besides connections: the games, pipes to the processes that search, libraries."""


def serve(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0: one that is free.")
    ] = PORT,
    host: Annotated[
        str,
        typer.Option(help="The address to listen on. Default: this machine alone."),
    ] = "127.0.0.1",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A name by which browsers may call the server, besides localhost and --host. "
            "Repeat for more."
        ),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Offer this agent as an opponent, too, such as a checkpoint's path. Repeat for "
            "more.",
            autocompletion=example_agents,
        ),
    ] = None,
    gallery: Annotated[
        Path | None,
        typer.Option(
            help="Show the games of this file of records in the gallery, instead of those that "
            "come with the package."
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="The file that keeps the games. Default: in the user's state folder."),
    ] = None,
    longest_search: Annotated[
        float,
        time_option("The longest search for a move or a hint.", "ms", Limits.search, 1, 3_600_000),
    ] = Limits.search,
    move_limit: Annotated[
        float,
        time_option(
            "The time after which an agent's move is given up.", "s", Limits.move_seconds, 1, 3600
        ),
    ] = Limits.move_seconds,
    most_games: Annotated[
        int,
        typer.Option(min=1, help="Games that are kept. New ones replace those nobody plays."),
    ] = Limits.games,
    most_connections: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_CONNECTIONS,
            help="Connections of one address at once. A proxy has one address for all.",
        ),
    ] = MOST_OF_ONE,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, help="Processes that search. Default: one for each core, up to 4."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Play in the browser, against the computer or another person."""
    uvicorn = require("uvicorn", "serve")
    require("starlette", "serve")
    from azumaya.baselines.play.server.app import make_app  # noqa: PLC0415 - needs starlette
    from azumaya.baselines.play.server.connections import Connection  # noqa: PLC0415 - needs uvicorn
    from azumaya.baselines.play.server.guard import LOOPBACK  # noqa: PLC0415 - likewise

    for name in allow_host or ():
        if not HOST_NAME.fullmatch(name):
            raise typer.BadParameter(
                f"--allow-host {shown(name)}: must be a name or an address, such as games.example"
            )
    store = _store(state)
    listening = _listen(host, port)
    url = _url(host, listening.getsockname()[1])
    names = {*LOOPBACK, *_names(host), *(name.lower() for name in allow_host or ())}
    count = workers or min(4, os.cpu_count() or 1)
    limits = Limits(search=longest_search, games=most_games, move_seconds=move_limit)
    _allow_connections()
    try:
        app = make_app(store, agent or (), names, limits, count, gallery)
    except OSError as error:
        raise typer.BadParameter(f"--gallery {reason(error)}") from None
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    typer.echo(f"{url} - Press Ctrl-C to stop; games are saved")
    if browser:
        opening = threading.Timer(SECONDS_TO_OPEN, webbrowser.open, [url])
        opening.daemon = True
        opening.start()
    connection = partial(Connection, counts=Counter(), most=most_connections)
    config = uvicorn.Config(
        app, http=connection, ws="none", log_level="warning", access_log=False, server_header=False
    )
    config.limit_concurrency = MOST_CONNECTIONS
    config.timeout_keep_alive = IDLE_SECONDS
    config.timeout_graceful_shutdown = SECONDS_TO_FINISH
    uvicorn.Server(config).run(sockets=[listening])


def _allow_connections() -> None:
    """Ask the system for as many open files as there may be connections, where it has a limit."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # macOS allows fewer than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens; raises `typer.BadParameter` where that cannot be."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(kind, socket.SOCK_STREAM)
    if os.name == "posix":  # on Windows it would let two servers have the same port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # from here on browsers wait for the server instead of being refused
    except (OSError, UnicodeError) as error:  # the latter for what can be no name of a machine
        listening.close()
        is_taken = not isinstance(error, socket.gaierror | UnicodeError) and error.errno in TAKEN
        advice = "--port 0 takes a free port" if is_taken else "name an address of this machine"
        why = getattr(error, "strerror", None) or error
        raise typer.BadParameter(f"--host {shown(host)} --port {port}: {why}; {advice}") from None
    return listening


def _names(host: str) -> set[str]:
    """The names by which a server on this address may be called."""
    if host in ANY:
        return {socket.gethostname().lower()}
    return {f"[{host}]".lower() if ":" in host else host.lower()}


def _url(host: str, port: int) -> str:
    name = "localhost" if host in ANY else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def _store(given: Path | None) -> Store:
    """Open the file of the games.

    Raises:
        typer.BadParameter: it cannot be made or used.
    """
    from azumaya.baselines.play.server.store import Store, StoreInUseError  # noqa: PLC0415 - only this command needs it

    path = given
    try:
        path = _state_file(given)
        return Store(path)
    except OSError as error:
        raise typer.BadParameter(f"--state {reason(error)}; name another file") from None
    except StoreInUseError:
        raise typer.BadParameter(
            f"--state {shown(path)}: another server is using it; end that one, or name another file"
        ) from None
    except sqlite3.Error as error:
        raise typer.BadParameter(f"--state {shown(path)}: {error}") from None
    except OptionError as error:
        raise typer.BadParameter(str(error)) from None


def _state_file(given: Path | None) -> Path:
    """The file of the games; the folder of the default one is made."""
    if given is not None:
        check_folder(given, f"--state {shown(given)}")
        return given
    try:
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:  # a user that the system does not know, as in some containers
        raise OptionError(
            "--state: there is no home folder to keep the games in; name a file"
        ) from None
    folder = Path(home) / "azumaya"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / STATE_FILE
