"""Write the notebooks of the course with their exercises solved, for `make test-course`.

python -m tests.course.solved FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tests.course.notebooks import NOTEBOOKS, solved


def main(folder: Path) -> None:
    """Write all notebooks to a folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in NOTEBOOKS:
        (folder / path.name).write_text(json.dumps(solved(path)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
