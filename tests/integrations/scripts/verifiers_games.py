"""verifiers: a scripted model plays all games and takes all exams; no network and no key."""

from __future__ import annotations

import asyncio
import json
import random
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import verifiers.v1 as vf

import azumaya_exam
import azumaya_game
from azumaya.baselines.arena.exams import has_exam
from azumaya.baselines.text import text_exam
from azumaya.envs import GAMES

Model = Callable[[list[dict[str, Any]]], str]
POSITIONS = 5


class Server(ThreadingHTTPServer):
    """A scripted model behind the part of OpenAI's interface that verifiers uses."""

    model: Model


class Handler(BaseHTTPRequestHandler):
    """Answers `POST /v1/chat/completions`."""

    server: Server

    def do_POST(self) -> None:
        """Answer one chat."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": self.server.model(asked["messages"])}
        body = json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": asked["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing: the last line of the output is the result."""


def run(env: vf.Env, url: str, episodes: int) -> list[vf.Trace]:
    """Play episodes of an environment; returns their traces."""
    client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY_IS_NEEDED")
    context = vf.ModelContext(model="scripted", client=client)

    async def play() -> list[vf.Trace]:
        async with env.serving():
            tasks = list(env.taskset.take(episodes))
            done = await asyncio.gather(*(env.run_episode(task, context) for task in tasks))
        for episode in done:
            assert episode.ok, (episode.errors, [trace.errors for trace in episode.traces])
        return [episode.traces[0] for episode in done]

    return asyncio.run(play())


def listed(seed: int, mistake_at: int) -> Model:
    """A model that plays random moves of those it is shown; in one turn it needs a second try."""
    rng = random.Random(seed)

    def model(messages: list[dict[str, Any]]) -> str:
        if len(messages) == mistake_at:
            return "I am not sure."
        shown = next(m["content"] for m in messages[::-1] if "Legal moves: " in m["content"])
        moves = re.findall(r"Legal moves: (.*)", shown)[-1].split()
        return f"I have thought about it.\nmove: {rng.choice(moves)}"

    return model


def play(server: Server, url: str, game: str) -> dict[str, Any]:
    """Two games, one in each seat; the model makes one mistake in its second turn."""
    server.model = listed(len(game), mistake_at=4)
    options = {"max_plies": 60} if game == "abalone" else {}
    env = azumaya_game.load_environment(game=game, legal_moves=True, options=options)
    seats, results, moves = [], [], []
    for trace in run(env, url, 2):
        rewards = {name: reward.score for name, reward in trace.rewards.items()}
        assert trace.metrics["unreadable"] == 1, (game, trace.metrics)
        assert trace.metrics["illegal"] == trace.metrics["forfeited"] == 0, game
        assert rewards["result"] in (0, 0.5, 1), game
        answers = trace.num_turns
        assert abs(rewards["legal_share"] - (answers - 1) / answers) < 1e-9, (game, rewards)
        assert abs(trace.reward - (rewards["result"] + 0.1 * rewards["legal_share"])) < 1e-9
        seats.append(trace.task.data.seat)
        results.append(rewards["result"])
        moves.append(int(trace.metrics["moves"]))
    assert seats == [0, 1], game
    return {"results": results, "moves": moves}


def forfeit(server: Server, url: str) -> None:
    """A model that never names a move loses and gets nothing."""
    server.model = lambda messages: "As a language model I would rather not."
    (trace,) = run(azumaya_game.load_environment(game="vierer_dominari", tries=2), url, 1)
    assert trace.reward == 0, trace.rewards
    assert trace.metrics["forfeited"] == 1, trace.metrics
    assert trace.num_turns == 2, trace.num_turns


def take(server: Server, url: str, game: str) -> list[float]:
    """The mean rewards of a perfect model and of one that answers garbage."""
    exam = text_exam(game, positions=POSITIONS)
    questions = {
        (exam.messages(number) or [])[1]["content"]: exam.exam.positions[number]
        for number in exam.numbers
    }

    def perfect(messages: list[dict[str, Any]]) -> str:
        assert [m["role"] for m in messages] == ["system", "user"]
        values = questions[messages[1]["content"]].values
        return f"move: {max(values, key=lambda move: values[move])}"

    means = []
    for model, kept in ((perfect, 1), (lambda messages: "Nice weather.", 0)):
        server.model = model
        env = azumaya_exam.load_environment(game=game, positions=POSITIONS)
        traces = run(env, url, POSITIONS)
        assert len(traces) == POSITIONS
        for trace in traces:
            assert trace.metrics["kept"] == trace.metrics["legal"] == kept, (game, trace.metrics)
            assert (trace.metrics["regret"] == 0) == bool(kept), (game, trace.metrics)
        means.append(sum(trace.reward for trace in traces) / POSITIONS)
    assert means == [1, 0], (game, means)
    return means


def main() -> None:
    """Play everything and print one line."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    games = {game: play(server, url, game) for game in GAMES}
    forfeit(server, url)
    exams = {game: take(server, url, game) for game in filter(has_exam, GAMES)}
    server.shutdown()
    print(json.dumps({"games": games, "exams": exams}))


if __name__ == "__main__":
    main()
