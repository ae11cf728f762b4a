"""The earlier name of `value.py`, for commands and runs that have it."""

from __future__ import annotations

from azumaya.baselines.training import renamed, value

PROGRAM = "azumaya.baselines.training.td_value"


class Config(value.Config):
    """The options, with the folders of this name."""

    script = renamed.script(value.Config.script, PROGRAM)


main, run_words = renamed.commands(Config, value)

if __name__ == "__main__":
    renamed.run(PROGRAM)
