"""Training scripts. Their additional dependencies are in the extra `train`."""

import sys

from azumaya.baselines.system.signals import REFUSED, leave_on_interrupt

if sys.argv[:1] == ["-m"]:  # its value while Python looks up the module of `-m`
    leave_on_interrupt()  # before what takes long to import

from azumaya.envs.extras import MissingExtraError, require

try:
    for _package in (
        "torch", "safetensors", "tensorboard", "matplotlib", "rich", "tyro",
    ):  # fmt: skip
        require(_package, extra="train")
except MissingExtraError as missing:
    if sys.argv[:1] != ["-m"]:
        raise
    print(f"error: {missing}", file=sys.stderr)
    sys.exit(REFUSED)
