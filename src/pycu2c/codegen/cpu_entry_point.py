"""Emit the entry point of a CPU kernel: argument struct, loop over blocks, built-in variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import reduce

from pycu2c.analysis.effects import uses_dynamic_shared
from pycu2c.analysis.variables import accessed_names
from pycu2c.base.limits import MAX_SHARED_BYTES
from pycu2c.base.records import dataclass
from pycu2c.csyntax import nodes as c
from pycu2c.ir.call_graph import fixed_point_summaries
from pycu2c.ir.nodes import Apply, BlockLoop, Body, Call, Function, Module, Parameter
from pycu2c.ir.walk import all_expressions
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.cpu_block import FIRST, LAST, launched

COORDINATES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_DIM3 = c.NamedType("struct dim3")
_INT = c.NamedType("int64_t")
TypeOf = Callable[[Parameter], c.CType]

# the built-in variables that an intrinsic reads
_READS = {
    "grid": ("threadIdx", "blockIdx", "blockDim"),
    "gridsize": ("blockDim", "gridDim"),
    "thread": ("threadIdx", "blockDim"),
}


def coordinates_used(module: Module) -> dict[str, tuple[str, ...]]:
    """Return, for each function, the built-in variables that it or its callees read."""

    def read(function: Function, used: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        found: set[str] = set()
        for e in all_expressions(function.body):
            if isinstance(e, Apply):
                word = e.intrinsic.name.split(".")[1] if "." in e.intrinsic.name else ""
                found |= set(_READS.get(word, (word,) if word in COORDINATES else ()))
            elif isinstance(e, Call):
                found |= set(used[e.function])
        return tuple(place for place in COORDINATES if place in found)

    return fixed_point_summaries((*module.devices, module.kernel), read, ())


def cpu_types(module: Module, name: str, type_of: TypeOf) -> list[c.Item]:
    """Return ``struct dim3`` and the struct of the arguments: launch configuration, parameters."""
    three = c.ArrayType(c.NamedType("int32_t"), (3,))
    head = [
        c.ParameterDecl(three, "gridDim"),
        c.ParameterDecl(three, "blockDim"),
        c.ParameterDecl(_INT, "shared_bytes"),
    ]
    fields = [c.ParameterDecl(type_of(p), _field(p)) for p in module.kernel.parameters]
    axes = tuple(c.ParameterDecl(_INT, axis) for axis in "xyz")
    return [c.Struct("dim3", axes), c.Blank(), c.Struct(f"{name}_args", (*head, *fields))]


def _field(p: Parameter) -> str:
    return f"p{p.argument}_{p.part.value}{p.axis}"


def read_parameters(function: Function, names: Mapping[str, str], type_of: TypeOf) -> list[c.Stmt]:
    """Return declarations that read the used parameters from the argument struct."""
    read = accessed_names(function.body)
    return [
        c.DeclStmt(type_of(p), names[p.name], c.MemberExpr(c.Name("args"), _field(p), arrow=True))
        for p in function.parameters
        if p.name in read
    ]


@dataclass(frozen=True, slots=True)
class Blocks:
    """The code of each block or row of blocks, and the code before and after the loop over them."""

    before: tuple[c.Stmt, ...]
    each: tuple[c.Stmt, ...]
    after: tuple[c.Stmt, ...]
    order: tuple[int, int, int] = (0, 1, 2)
    in_rows: bool = False


def split_block_loop(function: Function) -> tuple[Body, BlockLoop, Body]:
    """Return the code before the loop over blocks of a kernel, the loop, and the code after it."""
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
) -> c.FunctionDecl:
    """Return the function that the pool calls for the blocks ``first_block`` to ``last_block``."""
    function = module.kernel
    struct = c.PointerType(c.NamedType(f"struct {name}_args", const=True), const=True)
    out: list[c.Stmt] = [c.DeclStmt(struct, "args", c.Name("arguments"))]
    out += read_parameters(function, names, type_of)
    rows = {e.intrinsic for e in all_expressions(function.body) if isinstance(e, Apply)}
    if blocks.in_rows or {"blockIdx", "gridDim"} & set(places):
        out += read_extent("gridDim")
    if blocks.in_rows or "blockDim" in places:
        out += read_extent("blockDim")
    if launched in rows:
        out.append(_launched_threads())
    asked = len(out) > 1 or "shared_bytes" in {row.name.rpartition(".")[2] for row in rows}
    if not asked:
        out[0] = c.ExprStmt(c.CastExpr(c.NamedType("void"), c.Name("arguments")))
    if uses_dynamic_shared(module):
        out.append(_dynamic_shared())
    loop = _by_rows(rows, blocks) if blocks.in_rows else [_by_blocks(places, blocks)]
    around = (*blocks.before, *loop, *blocks.after)
    parameters = (
        c.ParameterDecl(c.PointerType(c.NamedType("void", const=True)), "arguments"),
        c.ParameterDecl(_INT, "first_block"),
        c.ParameterDecl(_INT, "last_block"),
    )
    return c.FunctionDecl(name, c.NamedType("void"), parameters, (*out, *around))


def _dynamic_shared() -> c.Stmt:
    """Declare dynamic shared memory, which the blocks of an OS thread reuse.

    It has the largest size of a device, so that writes beyond the size of the launch are harmless.
    """
    bytes_of = c.ArrayType(c.NamedType("unsigned char"), (MAX_SHARED_BYTES,))
    return c.DeclStmt(bytes_of, "dynamic_shared", None, ("__attribute__((aligned(64)))",))


def read_extent(place: str) -> list[c.Stmt]:
    """Return the declaration of ``gridDim`` or ``blockDim``, read from the arguments."""
    field = c.MemberExpr(c.Name("args"), place, arrow=True)
    return [_filled(place, [c.Index(field, c.Number(str(axis))) for axis in range(3)])]


def _filled(place: str, values: Sequence[c.Expr]) -> c.Stmt:
    return c.DeclStmt(_DIM3, place, c.CompoundLiteral("", tuple(values)), ("const",))


def _launched_threads() -> c.Stmt:
    """Declare the number of threads of the launch."""
    extents: list[c.Expr] = [
        c.MemberExpr(c.Name(d), axis) for d in ("gridDim", "blockDim") for axis in "xyz"
    ]
    product = reduce(lambda a, b: c.BinaryExpr("*", a, b), extents)
    return c.DeclStmt(_INT, "launched", product, ("const",))


_BLOCK = c.Name("block")
_GRID = tuple(c.MemberExpr(c.Name("gridDim"), axis) for axis in "xyz")


def _block_index(order: tuple[int, int, int]) -> tuple[c.Expr, c.Expr, c.Expr]:
    """Return the index of a block in the grid from its linear index."""
    inner, middle, outer = order
    row = c.BinaryExpr("/", _BLOCK, _GRID[inner])
    here = {
        inner: c.BinaryExpr("%", _BLOCK, _GRID[inner]),
        middle: c.BinaryExpr("%", row, _GRID[middle]),
        outer: c.BinaryExpr("/", row, _GRID[middle]),
    }
    return here[0], here[1], here[2]


def _by_blocks(places: tuple[str, ...], blocks: Blocks) -> c.Stmt:
    """Return the loop over single blocks."""
    index = (_filled("blockIdx", _block_index(blocks.order)),) if "blockIdx" in places else ()
    going = c.BinaryExpr("<", _BLOCK, c.Name("last_block"))
    first = c.DeclStmt(_INT, "block", c.Name("first_block"))
    return c.ForStmt(first, going, c.Increment(_BLOCK), (*index, *blocks.each))


def _by_rows(asked: Set[Intrinsic], blocks: Blocks) -> list[c.Stmt]:
    """Return the loop over rows of blocks; an iteration runs the blocks of one row."""
    following, size = c.Name("next_block"), [c.MemberExpr(c.Name("blockDim"), a) for a in "xyz"]
    inner = blocks.order[0]
    row = c.BinaryExpr("/", _BLOCK, _GRID[inner])
    end = c.BinaryExpr("*", c.BinaryExpr("+", row, c.Number("1")), _GRID[inner])
    last = c.Name("last_block")
    inside: list[c.Stmt] = [
        c.DeclStmt(_INT, "row_end", end, ("const",)),
        c.AssignStmt(
            following,
            c.Conditional(c.BinaryExpr("<", c.Name("row_end"), last), c.Name("row_end"), last),
        ),
    ]
    here = _block_index(blocks.order)
    together = c.BinaryExpr("-", following, _BLOCK)
    for axis, first, after in zip(range(3), FIRST, LAST):
        if not {first, after} & asked:
            continue
        name = f"first_{'xyz'[axis]}"
        inside.append(c.DeclStmt(_INT, name, c.BinaryExpr("*", here[axis], size[axis]), ("const",)))
        if after in asked:
            width = c.BinaryExpr("*", together, size[axis]) if axis == inner else size[axis]
            value = c.BinaryExpr("+", c.Name(name), width)
            inside.append(c.DeclStmt(_INT, f"last_{'xyz'[axis]}", value, ("const",)))
    going = c.BinaryExpr("<", _BLOCK, last)
    start = c.DeclStmt(_INT, "block", c.Name("first_block"))
    loop = c.ForStmt(start, going, c.AssignStmt(_BLOCK, following), (*inside, *blocks.each))
    return [c.DeclStmt(_INT, "next_block"), loop]
