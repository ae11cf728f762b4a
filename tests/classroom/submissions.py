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
    modules = "import ctypes, fcntl, os, signal, socket, subprocess, sys, threading, time"
    return f"{modules}\n\n\ndef act(position):\n{body}    return position.legal_moves()[0]\n"


DENIED = "PermissionError: [Errno 1"
UNREADABLE = "PermissionError: [Errno 13"

CONFINED = {
    "hangs.py": Hostile(inside("while True:", "    pass"), "time-out: it needed more than"),
    "takes_memory.py": Hostile(
        inside("x = [bytes(1 << 28)]", "while True:", "    x.append(bytes(1 << 28))"), "MemoryError"
    ),
    "reads_the_exam.py": Hostile(inside("open('@EXAM@', 'rb').read()"), UNREADABLE),
    "answers_itself.py": Hostile(
        inside(
            "for fd in range(3, 64):",
            "    try:",
            '        os.write(fd, b\'{"id": 0, "move": 0}\\n\')',
            "    except OSError:",
            "        pass",
        ),
        "wrote to the pipe of its answers",
    ),
}
"""Submissions that need a process of their own; they fail their check. `@HERE@` is the folder of
the class, `@OUT@` that of its marks, `@EXAM@` a file of the exam, `@ELSEWHERE@` a file that is not
there."""

ATTEMPTS = {
    "open('file', 'w')": "PermissionError 13",
    "open('@HERE@/first.py')": "PermissionError 13",
    "open('@HERE@/first.py', 'w')": "PermissionError 13",
    "os.listdir('@HERE@')": "PermissionError 13",
    "open('@OUT@/class.jsonl', 'a')": "PermissionError 13",
    "open('@OUT@/class.jsonl')": "PermissionError 13",
    "open('@ELSEWHERE@', 'w')": "PermissionError 13",
    "open('@EXAM@', 'rb')": "PermissionError 13",
    "open('/etc/passwd')": "PermissionError 13",
    "open('/proc/1/environ')": "PermissionError 13",
    "os.unlink('@HERE@/first.py')": "PermissionError 1",
    "os.chmod('@HERE@', 0)": "PermissionError 1",
    "socket.create_connection(('127.0.0.1', 22), 1)": "PermissionError 1",
    "os.kill(os.getppid(), signal.SIGKILL)": "PermissionError 1",
    "os.kill(-1, signal.SIGKILL)": "PermissionError 1",
    "subprocess.run(['/bin/true'])": "PermissionError 1",
    "os.fork()": "PermissionError 1",
    "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)": "PermissionError 1",
    "fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), fcntl.F_SETLEASE, 0)": "PermissionError 1",
    "fcntl.ioctl(os.open(os.__file__, os.O_RDONLY), 0x40086602, bytes(8))": "PermissionError 1",
}
"""What is refused with an error, so that one process can try all of it; and the error."""

MORE = {
    "hangs_at_import.py": Hostile("while True:\n    pass\n", "time-out"),
    "closes_everything.py": Hostile(inside("os.closerange(0, 1024)"), "ended its process"),
    "exits_at_once.py": Hostile(inside("os._exit(0)"), "ended its process: exit code 0"),
    "forks.py": Hostile(inside("while True:", "    os.fork()"), DENIED),
    "segfaults.py": Hostile(inside("ctypes.string_at(0)"), "ended its process: signal 11"),
    "sleeps.py": Hostile(inside("time.sleep(1e6)"), "time-out: it needed more than"),
    "aborts.py": Hostile(inside("os.abort()"), "ended its process: signal 6"),
    "imports_the_solution.py": Hostile(
        inside("from azumaya.baselines import find_agent", "find_agent('greedy')"), "(line 5)"
    ),
    "makes_a_thread_that_forks.py": Hostile(
        inside(
            "found = []",
            "def work():",
            "    try:",
            "        os.fork()",
            "    except OSError as error:",
            "        found.append(error)",
            "thread = threading.Thread(target=work)",
            "thread.start()",
            "thread.join()",
            "raise found[0]",
        ),
        DENIED,
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
"""More of the same, for the slow tests; what `ATTEMPTS` tries is not tried again."""

WRONG = {
    "raises_at_import.py": Hostile("1 / 0\n", "ZeroDivisionError: division by zero (line 1)"),
    "exits_at_import.py": Hostile("import sys\nsys.exit(0)\n", "SystemExit: 0 (line 2)"),
    "exits.py": Hostile(inside("sys.exit(0)"), "SystemExit: 0 (line 5)"),
    "recurses.py": Hostile(
        "def act(position):\n    return act(position)\n", "RecursionError: maximum recursion"
    ),
    "takes_memory_at_once.py": Hostile(inside("x = bytearray(1 << 60)"), "MemoryError (line 5)"),
    "nothing.py": Hostile("def act(position):\n    pass\n", "act returned None"),
    "true.py": Hostile("def act(position):\n    return True\n", "act returned True"),
    "nan.py": Hostile("def act(position):\n    return float('nan')\n", "act returned nan"),
    "huge_move.py": Hostile("def act(position):\n    return 'x' * 10**7\n", "act returned 'xxx"),
    "huge_number.py": Hostile(
        "def act(position):\n    return 10**5000\n", "act returned an int of"
    ),
    "evil_error.py": Hostile(
        "class E(Exception):\n    def __str__(self):\n        raise self\n\n\n"
        "def act(position):\n    raise E\n",
        "which cannot be printed",
    ),
    "no_act.py": Hostile("x = 1\n", "it defines neither a function act(position)"),
    "syntax.py": Hostile("def act(position:\n", "SyntaxError"),
    "not_utf8.py": Hostile(b"x = '\xff\xfe'" + LEGAL.encode(), "SyntaxError"),
    "null_bytes.py": Hostile(b"x = 1\0" + LEGAL.encode(), "null bytes"),
    "wrong_signature.py": Hostile("def act():\n    return 1\n", "TypeError: act() takes 0"),
}
"""Submissions that are wrong and harmless, so that they can be run in the process of the tests."""

LATER = {
    "prints.py": Hostile(
        "for number in range(5000):\n    print('</pre><script>alert(1)</script>', number)\n"
        + LEGAL,
        "printed",
    ),
    "fails_later.py": Hostile(
        "moves = []\n\n\ndef act(position):\n    moves.append(0)\n"
        "    return position.legal_moves()[0 if len(moves) < 60 else 10**6]\n",
        "IndexError",
    ),
}
"""Submissions that pass their check, and what the remarks then say."""

SEARCHES = '''"""Looks for secrets in all that its process holds; prints the names of those."""

import gc
import os
import sys

NUMBERS, WORDS, MASK = @NUMBERS@, @WORDS@, (1 << 64) - 1
"""By name: numbers with every bit flipped and words turned round, so as not to find these here."""


def held():
    """Whatever the frames, the modules and the garbage collector of this process lead to."""
    waiting, seen, frame = [sys.modules, *gc.get_objects()], set(), sys._getframe(2)
    while frame is not None:
        waiting += [frame.f_locals, frame.f_globals]
        frame = frame.f_back
    while waiting:
        thing = waiting.pop()
        if id(thing) not in seen:
            seen.add(id(thing))
            yield thing
            waiting += gc.get_referents(thing)


def act(position):
    found, descriptors = set(), 0
    for thing in held():
        if type(thing) is int:
            found |= {name for name, number in NUMBERS.items() if thing ^ MASK == number}
        elif type(thing) in (str, bytes, bytearray):
            text = thing if type(thing) is str else thing.decode("latin-1")
            found |= {name for name, word in WORDS.items() if word[::-1] in text}
    for number in range(256):
        try:
            os.fstat(number)
            # Debian's libffi keeps its own file open
            descriptors += "libffi" not in os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            pass
    print(sorted(found), descriptors, flush=True)
    return position.legal_moves()[0]
'''
