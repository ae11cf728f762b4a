"""What distinguishes kernels in the cache: captured variables, and tables as they are in memory."""

from __future__ import annotations

OWN = """
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.games import toy

inner = toy.inner

@kernel
def stranger(x):
    return inner(x)
"""
PLUS = "plus = toy.make({})\nanswer(plus(5), misses(plus), hits(plus))"


def test_closures_with_other_captures(tree):
    code = """
kernels = [toy.make(n) for n in ({})]
answer(*(k(5) for k in kernels), misses(*kernels), hits(*kernels))
"""
    first, second = (
        code.format("1, 1.0, 2, np.int64(3)"),
        code.format("1, 2.5, 3, True, np.int8(3)"),
    )
    assert tree.run(first) == [6, 6.0, 7, 8, 4, 0]
    assert tree.run(second) == [6, 7.5, 8, 6, 8, 4, 1]
    assert tree.run(first) == [6, 6.0, 7, 8, 0, 4]


def test_closures_over_arrays_and_tuples(tree):
    source = """
def make_at(values):
    @kernel
    def at(i):
        return values[i]
    return at
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    code = """
values = [np.arange(3), np.arange(3) * 2, np.arange(3.0), (1, 2), (1, 3), (1, 2, 3)]
kernels = [toy.make_at(v) for v in values]
answer(*(k(1) for k in kernels), misses(*kernels))
"""
    assert tree.run(code) == [1, 2, 1.0, 2, 3, 2, 6]
    assert tree.run(code) == [1, 2, 1.0, 2, 3, 2, 0]


def test_closures_over_kernels(tree):
    code = """
kernels = [toy.make_caller(toy.make(n)) for n in {}]
kernels.append(toy.make_caller(toy.make_caller(toy.make(3))))
answer(*(k(5) for k in kernels), misses(*kernels))
"""
    assert tree.run(code.format([1, 2])) == [12, 14, 32, 3]
    assert tree.run(code.format([2, 1])) == [14, 12, 32, 0]
    assert tree.run(code.format([4, 5])) == [18, 20, 32, 2]


def test_big_callees_compiled_apart_and_loaded_together(tree):
    """Callees too big to inline are found by their symbol names.

    Numba numbers functions from 1 in each process and uses the numbers in these names, so two
    closures of one factory would get the same name in two processes.
    """
    steps = "\n".join(f"        x = (x * {2 * i + 3} ^ (x >> {i % 7 + 1})) + n" for i in range(150))
    source = f"""
def make_big(n):
    @kernel
    def big(x):
{steps}
        return x

    return big

def make_twice(callee):
    @kernel
    def twice(x):
        return callee(x) + callee(x + 1) + callee(x + 2)
    return twice
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    code = "answer(*(toy.make_twice(toy.make_big(n))(5) for n in ({})))"
    apart = [tree.run(code.format(f"{n},")) for n in (10, 20)]
    assert apart[0] != apart[1]
    assert tree.run(code.format("10, 20")) == [*apart[0], *apart[1]]


def test_equal_closures_share_an_entry_and_outlive_each_other(tree):
    tree.run(PLUS.format(1))
    code = """
import gc
first, second = toy.make(1), toy.make(1)
results = [first(5), second(5), hits(first, second)]
del first
gc.collect()
third = toy.make(1)
answer(*results, second(6), third(7), hits(third))
"""
    assert tree.run(code) == [6, 6, 2, 7, 8, 1]


def test_a_field_named_like_a_kernel(tree):
    """It does not depend on the kernel `field`, which would form a circle."""
    source = """
@kernel
def read(records):
    return records[0].field

@kernel
def field(records):
    return read(records) + 1
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    code = """
records = np.array([(3,)], [("field", "i8")])
answer(toy.field(records), toy.read(records[::-1]), misses(toy.field, toy.read))
"""
    assert tree.run(code)[:2] == [4, 3]
    assert tree.run(code) == [4, 3, 0]


def test_default_arguments(tree):
    source = """
def with_default(n):
    @kernel
    def add(x, y=n):
        return x + y
    return add
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    for n in (1, 2):
        assert tree.run(f"answer(toy.with_default({n})(5))") == [5 + n]
    for n in (1, 2):  # long arrays, whose abbreviated texts are equal
        code = f"values = np.zeros(3000, np.int64)\nvalues[1500] = {n}\n"
        assert tree.run(code + "answer(toy.with_default(values)(5)[1500])") == [5 + n]


def test_recursion(tree):
    source = """
@kernel
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    for expected in (1, 0):
        assert tree.run("answer(toy.factorial(5), misses(toy.factorial))") == [120, expected]


def test_table_changed_at_run_time_is_not_published_as_the_source(tree):
    patched = "toy.STRIDE = 7\ntoy.TABLE = toy.TABLE * 5\nanswer(toy.outer(5), misses(toy.outer))"
    assert tree.run(patched) == [40, 1]
    assert tree.run("answer(toy.outer(5), misses(toy.outer))") == [46, 1]
    assert tree.run(patched) == [40, 0]


def test_callee_older_than_its_table_is_not_published(tree):
    """In memory `inner` keeps the old stride, which no other process may load as the new one."""
    code = "toy.inner(5)\ntoy.STRIDE = 7\nanswer(toy.outer(5))"
    assert tree.run(code) == [46]
    assert tree.run("toy.STRIDE = 7\nanswer(toy.outer(5))") == [36]
    assert tree.run("answer(toy.outer(5))") == [46]


def test_source_edited_between_start_and_import(tree):
    """What counts is the function in memory."""
    code = """
path = toy.__file__
source = open(path).read()
exec(compile(source.replace("x * STRIDE", "x * 3"), path, "exec"), vars(toy))
answer(toy.outer(5))
"""
    assert tree.run(code) == [16]
    assert tree.run("answer(toy.outer(5))") == [46]


def test_functions_outside_the_library_are_kept_too(tree):
    (tree.root / "lib" / "own.py").write_text(OWN)
    code = """
import own
caller = toy.make_caller(own.stranger)
answer(own.stranger(5), caller(5), misses(own.stranger, caller))
"""
    assert tree.run(code) == [45, 90, 2]
    assert tree.run(code) == [45, 90, 0]
    (tree.root / "lib" / "own.py").write_text(OWN.replace("inner(x)", "inner(x) + 1"))
    assert tree.run(code) == [46, 92, 2]


def test_functions_that_call_each_other_stay_in_memory(tree):
    source = """
def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n != 0 and even(n - 1)

even, odd = kernel(even), kernel(odd)
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    code = """
signature = "boolean(int64)"
answer(cache_key.overload_key(toy.even, signature), cache_key.overload_key(toy.inner, signature))
"""
    key, other = tree.run(code)
    assert key is None
    assert other


def test_kernel_as_an_argument(tree):
    source = """
@kernel
def apply(f, x):
    return f(x)
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    code = "answer(toy.apply(toy.inner, 5), toy.apply(toy.make(1), 5), misses(toy.apply))"
    assert tree.run(code) == [45, 6, 2]
    assert tree.run(code) == [45, 6, 0]


def test_record_types_with_other_offsets(tree):
    source = """
@kernel
def field(records):
    return records[1].a
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    code = """
layouts = [[("a", "i8"), ("b", "i8")], [("b", "i8"), ("a", "i8")], [("a", "i8")]]
answer(*(toy.field(np.array([(1, 2), (3, 4)], np.dtype(l))) if len(l) == 2 else
         toy.field(np.array([(1,), (9,)], np.dtype(l))) for l in layouts), misses(toy.field))
"""
    assert tree.run(code) == [3, 4, 9, 3]
    assert tree.run(code) == [3, 4, 9, 0]


def test_named_tuples_with_other_fields(tree):
    """Their types look alike, and a field is read by its place."""
    source = """
from collections import namedtuple
Pair = namedtuple("Pair", "a b")

@kernel
def first(pair):
    return pair.a

@kernel
def made(one, two):
    return Pair(one, two).a

CONSTANT = Pair(1, 2)

@kernel
def frozen():
    return CONSTANT.a
"""
    file = tree.envs / "games" / "toy.py"
    file.open("a").write(source)
    kernels = ("first", "made", "frozen")
    misses = ", ".join(f"misses(toy.{name})" for name in kernels)
    code = f"answer(toy.first(toy.Pair(1, 2)), toy.made(1, 2), toy.frozen(), {misses})"
    assert tree.run(code) == [1, 1, 1, 1, 1, 1]
    assert tree.run(code) == [1, 1, 1, 0, 0, 0]
    file.write_text(file.read_text().replace('"a b"', '"b a"'))
    assert tree.run(code) == [2, 2, 2, 1, 1, 1]
