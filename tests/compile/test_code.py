"""Code for the kernels that call a kernel, and machine code for Python, made when it is needed."""

from __future__ import annotations

import pytest

CHAIN = """
def saying(x):
    print("said", x)
    return x + 1

saying = kernel(saying)

@kernel
def middle(x):
    return saying(x) * 2

@kernel
def top(x):
    return middle(x) + 1

@kernel
def even(n):
    return True if n == 0 else odd(n - 1)

@kernel
def odd(n):
    return False if n == 0 else even(n - 1)

@kernel
def parity(n):
    return even(n)

@kernel
def counted(n):
    return 1 if n > 70 else 1 + counted(n + 1)

@kernel
def counted_from(n):
    return counted(60) + n
"""
PYTHON = "sum(callable(found.entry_point) for found in {}.overloads.values())"


@pytest.fixture
def chain(tree):
    (tree.envs / "games" / "toy.py").open("a").write(CHAIN)
    return tree


def test_only_what_python_calls_has_machine_code(tree):
    known = ", ".join(PYTHON.format(f"toy.{name}") for name in ("inner", "outer"))
    code = f"answer(toy.outer(5), {known}, toy.inner(5), {known}, misses(toy.inner, toy.outer))"
    assert tree.run(code) == [46, 0, 1, 45, 1, 1, 2]
    assert tree.run(code) == [46, 0, 1, 45, 1, 1, 0]


@pytest.mark.parametrize("where", ["for_python", "_started"])
def test_after_ctrl_c_a_kernel_is_compiled_as_if_it_had_not_come(tree, where):
    code = f"""
from azumaya.envs.kernels import code
toy.outer(5)
whole = code.{where}
def interrupted(*given):
    code.{where} = whole
    raise KeyboardInterrupt
code.{where} = interrupted
try:
    toy.inner(5)
except KeyboardInterrupt:
    answer(toy.inner(5), toy.outer(5), toy.make_caller(toy.inner)(5), len(cache._compiling))
"""
    assert tree.run(code) == [45, 46, 90, 0]


def test_callees_that_print_are_loaded_with_their_callers(chain):
    """A text that is printed is found through the environment of the kernel that prints it."""
    assert chain.run("answer(toy.top(1))") == [5]
    assert chain.run("answer(toy.middle(1), misses(toy.middle))") == [4, 0]


def test_kernels_that_call_each_other_run_below_another_one(chain):
    code = "answer(toy.parity(4), toy.parity(5), toy.odd(5), toy.even(5))"
    assert chain.run(code) == [1, 0, 1, 0]
    assert chain.run(code) == [1, 0, 1, 0]


def test_a_kernel_may_call_itself_with_arguments_of_other_types(chain):
    """60 is a type of its own, from which the kernel calls itself with any number."""
    code = "answer(toy.counted_from(1), toy.make_caller(toy.counted_from)(1))"
    assert chain.run(code) == [13, 26]
    assert chain.run(code) == [13, 26]


def test_a_kernel_may_ask_python(tree):
    source = """
import numba

@kernel
def asking(x):
    with numba.objmode(y="int64"):
        y = int(str(x)) + 1
    return y * 2

@kernel
def below(x):
    return asking(x) + 1
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    for _ in range(2):
        assert tree.run("answer(toy.below(3), toy.asking(3))") == [9, 8]
