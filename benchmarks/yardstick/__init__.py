"""Connect Four, a ninth game beside the eight: small enough to copy, and part of most libraries.

It is registered only on request (`azumaya.envs.register_game`). The tests run over it as over the
other games, and `azumaya bench peers` compares it with the same game of other libraries.
"""
