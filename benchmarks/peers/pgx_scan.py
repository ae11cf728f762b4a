"""Pgx: jit, vmap and scan of random legal play with autoreset."""

# This script runs in the peer's environment, whose types are not available here.
# mypy: ignore-errors

# ruff: noqa: I001 - `script` sets JAX's platform before JAX is imported
from script import DEVICE, Script

import time

import jax
import pgx
from jax_pick import kth_legal
from pgx.experimental import auto_reset

GAMES = ("tic_tac_toe", "connect_four", "othello", "hex", "go_9x9")
BATCHES = (64, 1024, 8192) if DEVICE == "cpu" else (1 << 10, 1 << 14, 1 << 17, 1 << 20)
SLOW = 1.0
"""If a step takes more seconds than this, larger batches are not tried."""
INCLUDES = (
    "one move: random legal pick (one number per game), step, autoreset, observation of who moves "
    "next, mask, all inside one compiled scan; the last state is returned whole"
)


def program(env, batch, length):
    """`length` steps of a batch as one compiled call."""
    step = jax.vmap(auto_reset(env.step, env.init))

    def body(carry, _):
        state, key = carry
        key, pick, turn = jax.random.split(key, 3)
        action = kth_legal(pick, state.legal_action_mask)
        return (step(state, action, jax.random.split(turn, batch)), key), None

    return jax.jit(
        lambda state, key: jax.lax.scan(body, (state, key), None, length=length)[0],
        donate_argnums=0,
    )


def stepper(env, batch):
    """The chunk to measure, and how long one step takes."""
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch))
    one = program(env, batch, 1)
    carry = jax.block_until_ready(one(state, jax.random.PRNGKey(1)))
    begin = time.process_time()
    carry = jax.block_until_ready(one(*carry))
    per_step = max(time.process_time() - begin, 1e-5)
    length = int(min(300, max(1, 0.2 / per_step)))
    many = program(env, batch, length)

    def chunk():
        nonlocal carry
        carry = jax.block_until_ready(many(*carry))
        return batch * length

    return chunk, per_step


def main():
    """Measure all games in several batch sizes."""
    script = Script(__doc__)
    for game in GAMES:
        if not script.wants(game):
            continue
        for batch in BATCHES:
            with script.attempt(game, f"batch {batch}"):
                chunk, per_step = stepper(pgx.make(game), batch)
                config, beside = f"batch {batch}", "batch loop"
                if DEVICE != "cpu":
                    config = beside = f"{batch} games"
                script.row(game, config, beside, INCLUDES, chunk)
                if per_step > SLOW:
                    break


if __name__ == "__main__":
    main()
