"""The process in which a submission runs.

`python -m azumaya.baselines.classroom.player` confines itself, loads the submission, and answers
requests. What a submission prints cannot be taken for an answer. Whatever it does to this process,
the marks are made in another one, which checks every answer.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import linecache
import os
import pickle
import random
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from azumaya.baselines.classroom.confine import (
    LIBRARIES,
    Isolation,
    close_off,
    limit_processor,
    separate,
)
from azumaya.baselines.system.messages import Messages

MODULE = "submission"
"""The name under which a submission is loaded."""
PARTS = ("azumaya", "azumaya.envs", "azumaya.wrappers", "azumaya.baselines")
PLIES = 20
"""Moves of the game that is played before a submission is loaded."""
LONGEST_MESSAGE = 300
LONGEST_ANSWER = 200
"""Characters of the longest move name that is passed on."""
MISSING = "it defines neither a function act(position) nor a class Agent with act(self, position)"


def main() -> None:
    """Confine this process, then answer requests until there are no more."""
    messages = Messages()
    serve(messages, confined(messages))


def confined(messages: Messages) -> Isolation:
    """Confine this process as it is told, and forget what was told: it names what is hidden."""
    # what the library says of its cache is nothing that the submission has printed
    warnings.filterwarnings("ignore", message="kernels are compiled anew")
    spec = messages.read()
    wanted = spec["layers"]
    isolation = separate(spec["memory"], wanted, messages.pipes)
    warm_up(spec["game"])
    if not spec["cached"]:
        forget_cache()
    limit_processor(spec["seconds"], isolation)
    close_off(isolation, wanted, readable(spec["readable"]), spec["hidden"])
    return isolation


def warm_up(game: str) -> None:
    """Load what a position needs while all files can still be read."""
    import numpy.random  # noqa: F401, PLC0415 - after this process has been separated

    from azumaya.envs import Position  # noqa: PLC0415 - likewise

    position, draws = Position(game), random.Random(0)
    look_at(position)
    for _ in range(PLIES):  # an empty board does not need all that others do
        if position.is_over:
            break
        position.play(draws.choice(position.legal_actions()))
        look_at(Position.from_text(game, str(position)))


def look_at(position: Any) -> None:
    """Call what a submission may call, so that it is compiled."""
    for ask in (str, repr, type(position).copy, type(position).action_mask):
        ask(position)
    pickle.loads(pickle.dumps(position))
    position.resample_hidden(0)
    position.returns()
    position.observation(0)
    position.draw(colour=False)
    for move in position.legal_moves():
        position.explain(move)


def forget_cache() -> None:
    """Compile from now on what `warm_up` has not loaded, in class as at home.

    Otherwise a file would be fast where its author has run it before, and nowhere else.
    """
    from azumaya.envs.kernels.cache import open_store  # noqa: PLC0415 - has been loaded by now

    os.environ["AZUMAYA_CACHE_DIR"] = ""
    open_store.cache_clear()


def own_folders() -> list[str]:
    """The folders of this library; when it was installed in place, each part has its own."""
    specs = [importlib.util.find_spec(name) for name in PARTS]
    return [path for spec in specs if spec for path in spec.submodule_search_locations or ()]


def readable(more: list[str]) -> list[str]:
    """The files that a submission may read: the interpreter, its libraries, and this library."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix} - {"/"}
    found = [*LIBRARIES, *prefixes, *filter(None, sys.path), *own_folders(), *more]
    return [path for path in dict.fromkeys(found) if os.path.exists(path)]


def serve(messages: Messages, isolation: Isolation) -> None:
    """Answer requests: first the submission itself, then positions."""
    messages.answer({"layers": isolation.layers, "missing": isolation.missing})
    about = messages.read()
    name, source = about["name"], base64.b64decode(about["source"])
    act: Callable[[Any], Any] | None = None

    def begin() -> dict[str, Any]:
        nonlocal act
        act = load(source, name)
        return {"loaded": True}

    messages.answer({"id": about["id"], **guarded(begin, name)})
    while (request := messages.read()) is not None:
        messages.answer({"id": request["id"], **guarded(partial(choose, act, request), name)})


def load(source: bytes, name: str) -> Callable[[Any], Any]:
    """Run a submission; returns its function from positions to moves.

    Raises:
        TypeError: it defines none.
        Exception: whatever the submission raises.
    """
    lines = source.decode(errors="replace").splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    module = ModuleType(MODULE)
    module.__file__ = name
    sys.modules[MODULE] = module
    random.seed(0)
    # without this module's own `from __future__ import annotations`
    exec(compile(source, name, "exec", dont_inherit=True), module.__dict__)
    act = getattr(module, "act", None)
    if act is None and hasattr(module, "Agent"):
        act = module.Agent().act
    if not callable(act):
        raise TypeError(MISSING)
    found: Callable[[Any], Any] = act
    return found


def choose(act: Callable[[Any], Any] | None, request: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the submission for a move; the same request has the same random numbers."""
    import numpy  # noqa: PLC0415 - has been loaded by now

    from azumaya.envs import Position  # noqa: PLC0415 - likewise

    assert act is not None
    position = Position.from_text(request["game"], request["position"], **request["options"])
    random.seed(request["key"])
    numpy.random.seed(request["key"] % 2**32)
    return answer_of(act(position))


def answer_of(given: Any) -> dict[str, Any]:
    """What a submission gave, as JSON: the name or the number of a move."""
    if isinstance(given, str) and len(given) <= LONGEST_ANSWER:
        return {"move": str(given)}
    from azumaya.envs.errors import brief  # noqa: PLC0415 - has been loaded by now

    whole = getattr(given, "__index__", None)
    if whole is not None and not isinstance(given, bool):
        number = int(given.__index__())
        if abs(number) < 2**53:
            return {"move": number}
    raise TypeError(
        f"act returned {brief(given)}; it must return the name of a legal move, a string"
    )


def guarded(work: Callable[[], dict[str, Any]], name: str) -> dict[str, Any]:
    """What some work gives; what the submission raises becomes an answer, too."""
    try:
        return work()
    except BaseException as error:  # also SystemExit, and errors that refuse to be printed
        return {"error": described(error, name)}
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()


def described(error: BaseException, name: str) -> str:
    """An error of a submission in one line, with the line of the file that raised it."""
    try:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        said = said[:LONGEST_MESSAGE].removesuffix(":")
        numbers = list(line_numbers(error, name))
        return f"{said} (line {numbers[-1]})" if numbers else said
    except BaseException:
        return f"an error of type {type(error).__name__[:80]}, which cannot be printed"


def line_numbers(error: BaseException, name: str) -> Iterator[int]:
    """The lines of a submission that an error has passed."""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == name and frame.lineno:
            yield frame.lineno


if __name__ == "__main__":
    main()
