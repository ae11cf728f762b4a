"""The library's exceptions; each is a `ValueError` whose message says what would be right."""


class IllegalActionError(ValueError):
    """An action that the rules forbid, or that the game does not have; nothing has changed."""


class OptionError(ValueError):
    """An argument or option with an invalid value, or one that cannot change on reset."""


class UnknownOptionError(OptionError, TypeError):
    """An unknown keyword argument; also a `TypeError`, which Python raises for these."""


class PositionError(ValueError):
    """A position text that is malformed or impossible, or that an episode cannot start from."""


class MoveNameError(ValueError):
    """A text that does not name a move of the game."""


class RecordError(ValueError):
    """A game record that is malformed or does not fit the rules."""


class DeviceError(ValueError):
    """A device that is missing, or that the installed packages cannot use."""
