"""A uniformly random legal action in JAX, drawn the quick way."""

# This script runs in the peer's environment, whose types are not available here.
# mypy: ignore-errors

import jax
import jax.numpy as jnp


def kth_legal(key, mask):
    """One number per game, `(n,)`, then the k-th legal action of `mask`, `(n, A)`.

    `jax.random.categorical` draws one number per action instead, which in wide action spaces
    costs several times as much as the game.
    """
    running = jnp.cumsum(mask.astype(jnp.int32), axis=-1)
    k = (jax.random.uniform(key, (mask.shape[0], 1)) * running[:, -1:]).astype(jnp.int32)
    return jnp.argmax(running > k, axis=-1).astype(jnp.int32)
