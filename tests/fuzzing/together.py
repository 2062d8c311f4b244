"""Arrays that the kernel makes, what the threads of a block do together, calls for their effect."""

from __future__ import annotations

from fuzzing.control import inside_loop, uniform_int
from fuzzing.expressions import element, type_name
from fuzzing.operations import condition
from fuzzing.statements import (
    loops,
    nests,
    statements,
    storable,
    together,
    update,
    value,
    writes,
)
from fuzzing.writing import INTEGERS, ArrayName, Writer
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.types import WEAK_INT


@writes(0.8, nests)
def local_array(w: Writer) -> None:
    """An array of the thread, filled before it is read."""
    kind = w.strong()
    shape = w.pick(((2,), (4,), (5,), (2, 3), (3, 2)))
    name = w.fresh("m")
    w.line(
        f"{name} = cuda.local.array({shape[0] if len(shape) == 1 else shape}, {type_name(kind)})"
    )
    counters = [w.fresh("n") for _ in shape]
    depth = w.place.depth
    with w.inside(depth=depth, uniform=False):
        for counter, length in zip(counters, shape, strict=True):
            w.line(f"for {counter} in range({length}):")
            w.place.depth += 1
            w.declare(counter, WEAK_INT, fixed=True, bits=3)
        w.line(f"{name}[{', '.join(counters)}] = {storable(w, kind)}")
    w.place.depth = depth
    w.arrays.append(ArrayName(name, kind, shape, own=_indices_of_its_own(w, shape), static=True))


def _indices_of_its_own(w: Writer, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Any element of a local array is the thread's own: by constants, and by what stays fixed."""
    names = [v.name for v in w.variables(lambda v: v.fixed and v.type == WEAK_INT)]

    def index(length: int) -> str:
        if names and w.chance(0.4):
            return f"{w.pick(names)} % {length}"
        return str(w.rng.randrange(-length, length))

    return tuple(", ".join(map(index, shape)) for _ in range(3))


@writes(2, together)
def exchange(w: Writer) -> None:
    """Each thread writes a slot of shared memory; after a barrier all read all of it."""
    kind = w.strong()
    flat = len([n for n in w.block if n > 1]) <= 1 or w.chance(0.5)
    shape = (w.threads,) if flat else tuple(reversed(w.block))
    own = "t" if flat else "cuda.threadIdx.z, cuda.threadIdx.y, cuda.threadIdx.x"
    name = w.fresh("sh")
    w.line(
        f"{name} = cuda.shared.array({shape if len(shape) > 1 else shape[0]}, {type_name(kind)})"
    )
    w.line(f"{name}[{own}] = {storable(w, kind)}")
    w.line("cuda.syncthreads()")
    # the slots of threads that have left are not filled
    shared = ArrayName(name, kind, shape, own=(own,) if w.left else (), static=True)
    with w.inside(uniform=True):
        w.arrays.append(shared)
        if w.chance(0.6):  # in a variable that lives on behind the next barrier
            variable = w.fresh()
            w.line(f"{variable} = {element(w, shared).text}")
        else:
            variable = ""
            statements(w, 3)
    w.line("cuda.syncthreads()")
    if variable:
        w.declare(variable, kind)


@writes(0.8, together)
def tally(w: Writer) -> None:
    """The threads of a block change a few shared elements, each in one step."""
    if w.left:  # some elements would not be filled
        return exchange(w)
    kind, length = w.pick(INTEGERS), w.pick((1, 3, 4))
    name, counter = w.fresh("sh"), w.fresh("n")
    w.line(f"{name} = cuda.shared.array({length}, {type_name(kind)})")
    w.line(f"for {counter} in range(t, {length}, {w.threads}):")
    w.line(f"    {name}[{counter}] = {w.rng.randrange(2)}")
    w.line("cuda.syncthreads()")
    array = ArrayName(name, kind, (length,), static=True)
    for _ in range(w.rng.randint(1, 3)):
        if w.chance(0.3):
            with w.block_of(f"if {condition(w, 1)}:", uniform=False):
                update(w, array)
        else:
            update(w, array)
    w.line("cuda.syncthreads()")
    variable = w.fresh()
    w.line(f"{variable} = {element(w, array).text}")
    w.line("cuda.syncthreads()")
    w.declare(variable, kind)


@writes(0.7, together, loops)
def reduce(w: Writer) -> None:
    """A tree of sums in shared memory."""
    kind = w.strong()
    if kind.dtype.kind is DTypeKind.BOOL or w.threads & (w.threads - 1) or w.left:
        return exchange(w)
    name, step = w.fresh("sh"), w.fresh("c")
    w.line(f"{name} = cuda.shared.array({w.threads}, {type_name(kind)})")
    w.line(f"{name}[t] = {value(w, kind)}")
    w.line("cuda.syncthreads()")
    w.line(f"{step} = {w.threads} // 2")
    with w.block_of(f"while {step} > 0:"):
        with w.block_of(f"if t < {step}:"):
            w.line(f"{name}[t] = {name}[t] {w.pick('+*')} {name}[t + {step}]")
        w.line("cuda.syncthreads()")
        w.line(f"{step} {w.pick(('//= 2', '>>= 1'))}")
    variable = w.fresh()
    w.line(f"{variable} = {name}[{w.rng.randrange(-w.threads, w.threads)}]")
    w.line("cuda.syncthreads()")
    w.declare(variable, kind)


@writes(0.8, together, loops)
def rounds(w: Writer) -> None:
    """A loop that all threads run, with an exchange in each round."""
    name = w.fresh("n")
    bound = w.pick((str(w.rng.randint(1, 3)), f"({uniform_int(w)}) % 3 + 1"))
    with w.block_of(f"for {name} in range({bound}):", **inside_loop(w, True) | {"breaks": False}):
        w.declare(name, WEAK_INT, fixed=True, uniform=True, bits=2)
        exchange(w)
        statements(w, 2)
