"""Submissions for the tests: two honest ones, and many that do what they must not."""

from __future__ import annotations

from dataclasses import dataclass

FIRST = b'''"""Plays the first legal move."""


def act(position):
    return position.legal_moves()[0]
'''
GREEDY = b'''"""Leaves the opponent few moves, and wins at once if it can."""

import random


class Agent:
    def act(self, position):
        return max(position.legal_moves(), key=lambda move: self.value(position, move))

    def value(self, position, move):
        after = position.copy().play(move)
        if after.is_over:
            return 1000 * after.returns()[position.to_move]
        return random.random() - len(after.legal_actions())
'''
HONEST = {"first.py": FIRST, "greedy.py": GREEDY}
LEGAL = "\n\ndef act(position):\n    return position.legal_moves()[0]\n"


@dataclass(frozen=True)
class Hostile:
    """A submission that does what it must not.

    Attributes:
        source: the content of the file.
        told: what the remarks must say.
    """

    source: str | bytes
    told: str

    @property
    def content(self) -> bytes:
        """The content as bytes."""
        return self.source.encode() if isinstance(self.source, str) else self.source


def inside(*lines: str) -> str:
    """A submission that does something when it is asked for a move, and then gives a legal one."""
    body = "".join(f"    {line}\n" for line in lines)
    modules = "import ctypes, os, signal, socket, subprocess, sys, threading, time"
    return f"{modules}\n\n\ndef act(position):\n{body}    return position.legal_moves()[0]\n"


DENIED = "PermissionError: [Errno 1"
UNREADABLE = "PermissionError: [Errno 13"

FAILING = {
    "hangs.py": Hostile(inside("while True:", "    pass"), "time-out: it needed more than"),
    "sleeps.py": Hostile(inside("time.sleep(1e6)"), "time-out: it needed more than"),
    "hangs_at_import.py": Hostile("while True:\n    pass\n", "time-out"),
    "raises_at_import.py": Hostile("1 / 0\n", "ZeroDivisionError: division by zero (line 1)"),
    "exits_at_import.py": Hostile("import sys\nsys.exit(0)\n", "SystemExit: 0 (line 2)"),
    "exits.py": Hostile(inside("sys.exit(0)"), "SystemExit: 0 (line 5)"),
    "exits_at_once.py": Hostile(inside("os._exit(0)"), "ended its process: exit code 0"),
    "aborts.py": Hostile(inside("os.abort()"), "ended its process: signal"),
    "segfaults.py": Hostile(inside("ctypes.string_at(0)"), "ended its process: signal 11"),
    "recurses.py": Hostile(
        "def act(position):\n    return act(position)\n", "RecursionError: maximum recursion"
    ),
    "forks.py": Hostile(inside("while True:", "    os.fork()"), DENIED),
    "starts_a_program.py": Hostile(inside("subprocess.run(['/bin/true'])"), DENIED),
    "takes_memory.py": Hostile(inside("x = bytearray(1 << 40)"), "MemoryError"),
    "takes_memory_slowly.py": Hostile(
        inside("x = []", "while True:", "    x.append(bytearray(64 << 20))"), "MemoryError"
    ),
    "writes_here.py": Hostile(inside("open('file', 'w').write('x')"), UNREADABLE),
    "writes_to_tmp.py": Hostile(
        inside("open('/tmp/azumaya-hostile', 'w').write('x')"), UNREADABLE
    ),
    "changes_modes.py": Hostile(inside("os.chmod(PLACE, 0)".replace("PLACE", "'@HERE@'")), DENIED),
    "removes_files.py": Hostile(inside("os.unlink('@HERE@/first.py')"), "PermissionError"),
    "reads_others.py": Hostile(inside("open('@HERE@/first.py').read()"), UNREADABLE),
    "lists_others.py": Hostile(inside("os.listdir('@HERE@')"), UNREADABLE),
    "reads_marks.py": Hostile(inside("open('@OUT@/class.jsonl').read()"), UNREADABLE),
    "reads_passwords.py": Hostile(inside("open('/etc/passwd').read()"), UNREADABLE),
    "reads_its_parent.py": Hostile(inside("open('/proc/1/environ').read()"), UNREADABLE),
    "reads_the_exam.py": Hostile(
        inside(
            "import azumaya.envs",
            "root = os.path.dirname(azumaya.envs.__path__[0])",
            "open(root + '/baselines/arena/exams.py').read()",
        ),
        UNREADABLE,
    ),
    "imports_the_answers.py": Hostile(
        inside("from azumaya.baselines import take_exam", "take_exam"), "(line 5)"
    ),
    "connects.py": Hostile(inside("socket.create_connection(('127.0.0.1', 22), 1)"), DENIED),
    "kills_its_parent.py": Hostile(inside("os.kill(os.getppid(), signal.SIGKILL)"), DENIED),
    "kills_everything.py": Hostile(inside("os.kill(-1, signal.SIGKILL)"), DENIED),
    "illegal.py": Hostile("def act(position):\n    return 10**6\n", "gave what is no move"),
    "no_move.py": Hostile("def act(position):\n    return 'no move'\n", "gave what is no move"),
    "nothing.py": Hostile("def act(position):\n    pass\n", "act returned None"),
    "nan.py": Hostile("def act(position):\n    return float('nan')\n", "act returned nan"),
    "huge_move.py": Hostile(
        "def act(position):\n    return 'x' * 10**7\n", "a text of 10000000 characters"
    ),
    "huge_number.py": Hostile(
        "def act(position):\n    return 10**5000\n", "TypeError"
    ),
    "evil_error.py": Hostile(
        "class E(Exception):\n    def __str__(self):\n        raise self\n\n\n"
        "def act(position):\n    raise E\n",
        "which cannot be printed",
    ),
    "no_act.py": Hostile("x = 1\n", "it defines neither a function act(position)"),
    "syntax.py": Hostile("def act(position:\n", "SyntaxError"),
    "not_utf8.py": Hostile(b"# \xff\xfe" + LEGAL.encode(), "SyntaxError"),
    "null_bytes.py": Hostile(b"x = 1\0" + LEGAL.encode(), "null bytes"),
    "closes_everything.py": Hostile(inside("os.closerange(0, 1024)"), "ended its process"),
    "answers_itself.py": Hostile(
        inside(
            "for fd in range(3, 64):",
            "    try:",
            "        os.write(fd, b'{\"id\": 0, \"move\": \"1a6\"}\\n')",
            "    except OSError:",
            "        pass",
        ),
        "wrote to the pipe of its answers",
    ),
    "floods_its_answers.py": Hostile(
        inside(
            "for fd in range(3, 64):",
            "    try:",
            "        os.write(fd, b'[' * 10**6)",
            "    except OSError:",
            "        pass",
        ),
        "gave an answer of more than",
    ),
    "breaks_json.py": Hostile(
        inside("import json", "json.dumps = lambda *a: 'x'"), "wrote to the pipe of its answers"
    ),
}
"""Those that fail their check, by name of their file. `@HERE@` is the folder of the class, `@OUT@`
that of its marks."""

PRINTING = {
    "prints.py": Hostile(inside("for i in range(5000):", "    print('</pre><script>', i)"), "printed"),
}
"""Those that pass, with a remark."""

MARKUP = "<script>alert(1)<|script>.py".replace("|", "∕")
"""A file name that is markup; a slash cannot be part of one, but a character that looks like it."""
