"""Connect Four, a ninth game: small enough to copy, and found in most libraries of games.

It is registered only on request (`azumaya.envs.register_game`). The tests cover it like the other
games, and `azumaya bench peers` compares it with the same game in other libraries.
`sets/` has positions of it with exact values, from `benchmarks.studies.four_sets`.
"""
