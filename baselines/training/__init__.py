"""Training scripts. Their additional dependencies are in the extra `train`."""

import sys

from azumaya.baselines.system.signals import REFUSED, leave_on_interrupt

_main = getattr(sys.modules["__main__"], "__spec__", None)
# the arguments while Python looks up the module of `-m`; studies have been found when they ask
_as_program = sys.argv[:1] == ["-m"] or ".studies." in getattr(_main, "name", "")
if _as_program:
    leave_on_interrupt()  # before what takes long to import

from azumaya.envs.extras import MissingExtraError, require  # noqa: E402 - it takes a while

try:
    for _package in (
        "torch", "safetensors", "tensorboard", "matplotlib", "rich", "typer",
    ):  # fmt: skip
        require(_package, extra="train")
except MissingExtraError as missing:
    if not _as_program:
        raise
    print(f"error: {missing}", file=sys.stderr)
    sys.exit(REFUSED)
