"""What stands around a block's code in a CPU kernel: the arguments' struct, the loop over
blocks, and the coordinates that CUDA has as built-in variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import reduce

from pycu2c.analysis.effects import accessed_names, uses_dynamic_shared
from pycu2c.base.limits import MAX_SHARED_BYTES
from pycu2c.base.records import dataclass
from pycu2c.csyntax import nodes as c
from pycu2c.ir.call_graph import fixed_point_summaries
from pycu2c.ir.nodes import Apply, BlockLoop, Body, Call, Function, Module, Parameter
from pycu2c.ir.walk import all_expressions
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.cpu_block import FIRST, LAST, launched

PLACES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_DIM3 = c.NamedType("struct dim3")
_INT = c.NamedType("int64_t")
TypeOf = Callable[[Parameter], c.CType]

# which built-in variables an intrinsic of threads reads
_READS = {
    "grid": ("threadIdx", "blockIdx", "blockDim"),
    "gridsize": ("blockDim", "gridDim"),
    "thread": ("threadIdx", "blockDim"),
}


def coordinates_used(module: Module) -> dict[str, tuple[str, ...]]:
    """For each function, the coordinates that it or its callees read."""

    def read(function: Function, used: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        found: set[str] = set()
        for e in all_expressions(function.body):
            if isinstance(e, Apply):
                word = e.intrinsic.name.split(".")[1] if "." in e.intrinsic.name else ""
                found |= set(_READS.get(word, (word,) if word in PLACES else ()))
            elif isinstance(e, Call):
                found |= set(used[e.function])
        return tuple(place for place in PLACES if place in found)

    return fixed_point_summaries((*module.devices, module.kernel), read, ())


def cpu_types(module: Module, name: str, type_of: TypeOf) -> list[c.Item]:
    """``struct dim3`` and the struct that a launch packs: its head, then the parameters."""
    three = c.ArrayType(c.NamedType("int32_t"), (3,))
    head = [
        c.Parameter(three, "gridDim"),
        c.Parameter(three, "blockDim"),
        c.Parameter(_INT, "shared_bytes"),
    ]
    fields = [c.Parameter(type_of(p), _field(p)) for p in module.kernel.parameters]
    axes = tuple(c.Parameter(_INT, axis) for axis in "xyz")
    return [c.Struct("dim3", axes), c.Blank(), c.Struct(f"{name}_args", (*head, *fields))]


def _field(p: Parameter) -> str:
    return f"p{p.argument}_{p.part.value}{p.axis}"


def parameters_read(function: Function, names: Mapping[str, str], type_of: TypeOf) -> list[c.Stmt]:
    """The parameters that a kernel reads, taken out of its arguments' struct."""
    read = accessed_names(function.body)
    return [
        c.Declare(type_of(p), names[p.name], c.Member(c.Name("args"), _field(p), arrow=True))
        for p in function.parameters
        if p.name in read
    ]


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a kernel does for each block or row of blocks, and what an OS thread does before and
    after them."""

    before: tuple[c.Stmt, ...]
    each: tuple[c.Stmt, ...]
    after: tuple[c.Stmt, ...]
    order: tuple[int, int, int] = (0, 1, 2)
    in_rows: bool = False


def around_blocks(function: Function) -> tuple[Body, BlockLoop, Body]:
    """A kernel's loop over blocks, and what stands before it and after it."""
    body = function.body
    for i, s in enumerate(body):
        if isinstance(s, BlockLoop):
            return body[:i], s, body[i + 1 :]
    return (), BlockLoop(body, function.span), ()


def cpu_kernel(
    name: str,
    module: Module,
    names: Mapping[str, str],
    type_of: TypeOf,
    blocks: Blocks,
    places: tuple[str, ...],
) -> c.Function:
    """The kernel as the pool calls it: for blocks ``first_block`` up to ``last_block``."""
    function = module.kernel
    struct = c.PointerType(c.NamedType(f"struct {name}_args", const=True), const=True)
    out: list[c.Stmt] = [c.Declare(struct, "args", c.Name("arguments"))]
    out += parameters_read(function, names, type_of)
    rows = {e.intrinsic for e in all_expressions(function.body) if isinstance(e, Apply)}
    if blocks.in_rows or {"blockIdx", "gridDim"} & set(places):
        out += extent_read("gridDim")
    if blocks.in_rows or "blockDim" in places:
        out += extent_read("blockDim")
    if launched in rows:
        out.append(_threads())
    asked = len(out) > 1 or "shared_bytes" in {row.name.rpartition(".")[2] for row in rows}
    if not asked:
        out[0] = c.Evaluate(c.Cast(c.NamedType("void"), c.Name("arguments")))
    if uses_dynamic_shared(module):
        out.append(_dynamic_shared())
    loop = _by_rows(rows, blocks) if blocks.in_rows else [_by_blocks(places, blocks)]
    around = (*blocks.before, *loop, *blocks.after)
    parameters = (
        c.Parameter(c.PointerType(c.NamedType("void", const=True)), "arguments"),
        c.Parameter(_INT, "first_block"),
        c.Parameter(_INT, "last_block"),
    )
    return c.Function(name, c.NamedType("void"), parameters, (*out, *around))


def _dynamic_shared() -> c.Stmt:
    """One after the other, the blocks of this OS thread take the same bytes. There is room for as
    many as a device has: a kernel that takes more than its launch gives spoils nothing else."""
    bytes_of = c.ArrayType(c.NamedType("unsigned char"), (MAX_SHARED_BYTES,))
    return c.Declare(bytes_of, "dynamic_shared", None, ("__attribute__((aligned(64)))",))


def extent_read(place: str) -> list[c.Stmt]:
    """``gridDim`` or ``blockDim``, from the arguments."""
    field = c.Member(c.Name("args"), place, arrow=True)
    return [_filled(place, [c.Index(field, c.Number(str(axis))) for axis in range(3)])]


def _filled(place: str, values: Sequence[c.Expr]) -> c.Stmt:
    return c.Declare(_DIM3, place, c.CompoundLiteral("", tuple(values)), ("const",))


def _threads() -> c.Stmt:
    """How many are launched."""
    extents: list[c.Expr] = [
        c.Member(c.Name(d), axis) for d in ("gridDim", "blockDim") for axis in "xyz"
    ]
    product = reduce(lambda a, b: c.Binary("*", a, b), extents)
    return c.Declare(_INT, "launched", product, ("const",))


_BLOCK = c.Name("block")
_GRID = tuple(c.Member(c.Name("gridDim"), axis) for axis in "xyz")


def _block_index(order: tuple[int, int, int]) -> tuple[c.Expr, c.Expr, c.Expr]:
    """Where in the grid a block stands, from its number."""
    inner, middle, outer = order
    row = c.Binary("/", _BLOCK, _GRID[inner])
    here = {
        inner: c.Binary("%", _BLOCK, _GRID[inner]),
        middle: c.Binary("%", row, _GRID[middle]),
        outer: c.Binary("/", row, _GRID[middle]),
    }
    return here[0], here[1], here[2]


def _by_blocks(places: tuple[str, ...], blocks: Blocks) -> c.Stmt:
    """One block after the other."""
    index = (_filled("blockIdx", _block_index(blocks.order)),) if "blockIdx" in places else ()
    going = c.Binary("<", _BLOCK, c.Name("last_block"))
    first = c.Declare(_INT, "block", c.Name("first_block"))
    return c.For(first, going, c.Increment(_BLOCK), (*index, *blocks.each))


def _by_rows(asked: Set[Intrinsic], blocks: Blocks) -> list[c.Stmt]:
    """The blocks that stand in one row together, as far as they are asked for."""
    following, size = c.Name("next_block"), [c.Member(c.Name("blockDim"), a) for a in "xyz"]
    inner = blocks.order[0]
    row = c.Binary("/", _BLOCK, _GRID[inner])
    end = c.Binary("*", c.Binary("+", row, c.Number("1")), _GRID[inner])
    last = c.Name("last_block")
    inside: list[c.Stmt] = [
        c.Declare(_INT, "row_end", end, ("const",)),
        c.Assign(
            following,
            c.Conditional(c.Binary("<", c.Name("row_end"), last), c.Name("row_end"), last),
        ),
    ]
    here = _block_index(blocks.order)
    together = c.Binary("-", following, _BLOCK)
    for axis, first, after in zip(range(3), FIRST, LAST):
        if not {first, after} & asked:
            continue
        name = f"first_{'xyz'[axis]}"
        inside.append(c.Declare(_INT, name, c.Binary("*", here[axis], size[axis]), ("const",)))
        if after in asked:
            width = c.Binary("*", together, size[axis]) if axis == inner else size[axis]
            value = c.Binary("+", c.Name(name), width)
            inside.append(c.Declare(_INT, f"last_{'xyz'[axis]}", value, ("const",)))
    going = c.Binary("<", _BLOCK, last)
    start = c.Declare(_INT, "block", c.Name("first_block"))
    loop = c.For(start, going, c.Assign(_BLOCK, following), (*inside, *blocks.each))
    return [c.Declare(_INT, "next_block"), loop]
