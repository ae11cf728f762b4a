"""The features of many positions, one after another, without the room between them."""

from __future__ import annotations

from azumaya.envs.kernels.compile import kernel


@kernel
def gather(found, counts, lengths, packed):
    """Copy the features of games' positions to `packed`, one after another.

    `found` is `(games, plies, room)`, `counts` `(games, plies)` says how many of the room each
    position uses, and `lengths` `(games,)` how many plies each game has. `packed` has exactly as
    many numbers as there are features.
    """
    at = 0
    for g in range(lengths.shape[0]):
        for t in range(lengths[g]):
            size = counts[g, t]
            packed[at : at + size] = found[g, t, :size]
            at += size


@kernel
def scatter(packed, counts, lengths, found):
    """Copy them back to `found`: the inverse of `gather`."""
    at = 0
    for g in range(lengths.shape[0]):
        for t in range(lengths[g]):
            size = counts[g, t]
            found[g, t, :size] = packed[at : at + size]
            at += size
