"""Jumanji's Sudoku on the CPU: jit and scan of random legal cell fills with autoreset."""

# This script runs in the peer's environment, whose types are not available here.
# mypy: ignore-errors

# ruff: noqa: I001 - `script` sets JAX's platform before JAX is imported
from script import Script

import jax
import jax.numpy as jnp
import jumanji
from jax_pick import kth_legal
from jumanji.wrappers import VmapAutoResetWrapper

GAME = "Sudoku-v0"
BATCHES = (64, 1024, 4096)
LENGTH = 20
INCLUDES = (
    "one cell filled: random pick from the mask of 729 (one number per game), step, autoreset, "
    "board and mask, all inside one compiled scan"
)


def stepper(batch):
    """The chunk to measure."""
    env = VmapAutoResetWrapper(jumanji.make(GAME))

    def body(carry, _):
        state, observation, key = carry
        key, pick = jax.random.split(key)
        flat = kth_legal(pick, observation.action_mask.reshape(batch, -1))
        action = jnp.stack([flat // 81, flat // 9 % 9, flat % 9], axis=-1)
        state, timestep = env.step(state, action)
        return (state, timestep.observation, key), None

    @jax.jit
    def many(carry):
        return jax.lax.scan(body, carry, None, length=LENGTH)[0]

    key = jax.random.PRNGKey(0)
    state, timestep = jax.jit(env.reset)(jax.random.split(key, batch))
    carry = (state, timestep.observation, key)

    def chunk():
        nonlocal carry
        carry = jax.block_until_ready(many(carry))
        return batch * LENGTH

    return chunk


def main():
    """Measure several batch sizes."""
    script = Script(__doc__)
    for batch in BATCHES if script.wants(GAME) else ():
        with script.attempt(GAME, f"batch {batch}"):
            script.row(GAME, f"batch {batch}", "batch loop", INCLUDES, stepper(batch))


if __name__ == "__main__":
    main()
