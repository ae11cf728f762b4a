"""EnvPool, synchronous, one thread: its C++ board games and its Sudoku."""

# This script runs in the peer's environment, whose types are not available here.
# mypy: ignore-errors

import os

import envpool
import numpy as np
from script import Script, timing

GAMES = {
    "ConnectFour-v1": "board",
    "Othello-v1": "board",
    "Hex-v1": "board",
    "Go9x9-v1": "board",
    "Sudoku-v0": "sudoku",
}
BATCHES = (64, 1024)
INCLUDES = (
    "env.step of a batch: one move, observations (of both players in board games), mask, "
    "autoreset; the steps of resets count in the time but not as moves; "
)


def choose(rng, mask):
    """A random legal action for each row of a mask."""
    flat = mask.reshape(len(mask), -1)
    return (rng.random(flat.shape, dtype=np.float32) * flat).argmax(axis=1)


class Loop:
    """Random play; a stopwatch times EnvPool's steps alone."""

    def __init__(self, game, batch):
        more = {} if GAMES[game] == "board" else {"base_path": os.path.dirname(envpool.__file__)}
        self.env = envpool.make(
            game, env_type="gymnasium", num_envs=batch, num_threads=1, seed=0, **more
        )
        self.kind, self.batch, self.rng = GAMES[game], batch, np.random.default_rng(0)
        self.watch = timing.Stopwatch(timing.stopwatch_cost())
        self.seen, self.info = self.env.reset()
        self.over = np.zeros(batch, bool)

    def actions(self):
        """Random legal actions in the form that EnvPool expects."""
        if self.kind == "board":
            return choose(self.rng, self.info["legal_action_mask"]).astype(np.int32)
        seen = self.seen
        mask = seen["action_mask"] if isinstance(seen, dict) else seen.action_mask
        flat = choose(self.rng, mask)
        return np.stack(np.unravel_index(flat, (9, 9, 9)), axis=1).astype(np.int32)

    def chunk(self):
        """Make some steps; returns the number of moves."""
        moves = 0
        for _ in range(10):
            actions = self.actions()
            self.watch.start()
            self.seen, _, terminated, truncated, self.info = self.env.step(actions)
            self.watch.stop()
            moves += self.batch - int(self.over.sum())
            self.over = terminated | truncated
        return moves


def main():
    """Measure all games in several batch sizes."""
    script = Script(__doc__)
    for game in GAMES:
        if not script.wants(game):
            continue
        for batch in BATCHES:
            with script.attempt(game, f"batch {batch}"):
                loop, steps = Loop(game, batch), timing.Rates()
                timing.measure(loop.chunk, script.seconds, script.repeats, (loop.watch, steps))
                what = INCLUDES + "the choice of actions is not timed"
                script.rates(game, f"batch {batch}", "batch step", what, steps)
                loop.env.close()


if __name__ == "__main__":
    main()
