"""The earlier name of `ppo.py`, for commands and runs that have it."""

from __future__ import annotations

from azumaya.baselines.training import ppo, renamed

PROGRAM = "azumaya.baselines.training.ppo_selfplay"


class Config(ppo.Config):
    """The options, with the folders of this name."""

    script = renamed.script(ppo.Config.script, PROGRAM)


main, run_words = renamed.commands(Config, ppo)

if __name__ == "__main__":
    renamed.run(PROGRAM)
