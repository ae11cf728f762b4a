"""The course's checks: each tells whether the answer to an exercise is right, and if not, why.

The notebooks are in `docs/course/`. They need the extra `course`.
"""

from azumaya.baselines.course.boards import Boards
from azumaya.baselines.course.verdict import Verdict

__all__ = ["Boards", "Verdict"]
