"""A load test of the server, on this machine alone: many games at once, many requests.

    python -m tests.serve.load [--games 1000] [--requests 20000] [--visitors 16]

Starts a server of its own on a free port of the loopback address, plays random moves in all games
by turns from several threads, and ends with a line of JSON: requests a second, the median and the
slowest answers, and how many answers were errors. Ends with status 1 if there was one.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from azumaya.envs import GAMES

HEADERS = {"Content-Type": "application/json"}


class Visitor(threading.Thread):
    """Plays its share of the games."""

    def __init__(self, url: str, number: int, games: int, requests: int) -> None:
        super().__init__()
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
        self._rng, self._games, self._requests = random.Random(number), games, requests
        self._cookie = ""
        self.seconds: list[float] = []
        self.errors: list[str] = []

    def run(self) -> None:
        """Begin all games, then move in one after the other."""
        views = [self._begin() for _ in range(self._games)]
        while len(self.seconds) < self._requests:
            number = self._rng.randrange(len(views))
            view = views[number]
            if view is None or view["over"]:
                views[number] = self._begin()
                continue
            move = self._rng.choice(view["moves"])[0]
            body = {"ply": view["ply"], "move": move}
            views[number] = self._ask(f"/api/games/{view['id']}/move", body)

    def _begin(self) -> Any:
        game = self._rng.choice(list(GAMES))
        return self._ask("/api/games", {"game": game, "seed": self._rng.randrange(1000)})

    def _ask(self, path: str, body: Any) -> Any:
        began = time.perf_counter()
        headers = {**HEADERS, "Cookie": self._cookie}
        self._connection.request("POST", path, json.dumps(body), headers)
        answer = self._connection.getresponse()
        content = answer.read()
        self.seconds.append(time.perf_counter() - began)
        cookie = answer.getheader("Set-Cookie")
        if cookie:
            self._cookie = cookie.partition(";")[0]
        if answer.status >= 400:
            self.errors.append(f"{answer.status} {content[:200].decode(errors='replace')}")
            return None
        return json.loads(content)


def measure(url: str, games: int, requests: int, visitors: int) -> dict[str, Any]:
    """What the visitors met with."""
    began = time.perf_counter()
    threads = [
        Visitor(url, n, -(-games // visitors), -(-requests // visitors)) for n in range(visitors)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    seconds = sorted(second for thread in threads for second in thread.seconds)
    errors = [error for thread in threads for error in thread.errors]
    return {
        "games": games,
        "requests": len(seconds),
        "requests_per_second": round(len(seconds) / took, 1),
        "median_ms": round(1000 * statistics.median(seconds), 1),
        "99_percent_ms": round(1000 * seconds[int(0.99 * len(seconds))], 1),
        "slowest_ms": round(1000 * seconds[-1], 1),
        "errors": len(errors),
        "first_error": errors[0] if errors else None,
    }


def main() -> int:
    """Start a server, put it under load, end it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=1000, help="games at once")
    parser.add_argument("--requests", type=int, default=20_000, help="requests in all")
    parser.add_argument("--visitors", type=int, default=16, help="threads that send them")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        state = str(Path(folder) / "games.sqlite3")
        words = ["serve", "--port", "0", "--no-browser", "--workers", "1", "--state", state]
        with subprocess.Popen(
            [sys.executable, "-m", "azumaya.baselines.cli", *words],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            try:
                url = process.stdout.readline().split()[0]
                found = measure(url, wanted.games, wanted.requests, wanted.visitors)
            finally:
                process.terminate()
    print(json.dumps(found))
    return int(found["errors"] > 0)


if __name__ == "__main__":
    sys.exit(main())
