"""A ninth game that is not one of the eight: small enough to copy, and known to every library.

It is registered by who wants it, see `azumaya.envs.register_game`; the tests run over it as over
the others, and `azumaya bench peers` compares it with the same game of other libraries.
"""
