"""Emit the entry point of a CPU kernel: argument struct, loop over blocks, built-in variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from pycu2c.analysis.effects import dynamic_shared_arrays
from pycu2c.analysis.variables import accessed_names
from pycu2c.base.limits import MAX_SHARED_BYTES
from pycu2c.base.records import dataclass
from pycu2c.csyntax import nodes as c
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import fixed_point_summaries
from pycu2c.ir.walk import all_expressions
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.cpu_block import ROW_END, ROW_START

COORDINATES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_DIM3 = c.NamedType("struct dim3")
_INT64 = c.NamedType("int64_t")
TypeOf = Callable[[ir.Parameter], c.CType]

# the built-in variables that an intrinsic reads
_VARIABLES_READ = {
    "grid": ("threadIdx", "blockIdx", "blockDim"),
    "gridsize": ("blockDim", "gridDim"),
    "thread": ("threadIdx", "blockDim"),
}


def coordinates_used(module: ir.Module) -> dict[str, tuple[str, ...]]:
    """Return, for each function, the built-in variables that it or its callees read."""

    def variables_read(
        function: ir.Function, used: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        names: set[str] = set()
        for e in all_expressions(function.body):
            if isinstance(e, ir.Apply):
                name = e.intrinsic.name.split(".")[1] if "." in e.intrinsic.name else ""
                names |= set(_VARIABLES_READ.get(name, (name,)))
            elif isinstance(e, ir.Call):
                names |= set(used[e.function])
        return tuple(name for name in COORDINATES if name in names)

    return fixed_point_summaries((*module.device_functions, module.kernel), variables_read, ())


def cpu_types(module: ir.Module, name: str, type_of: TypeOf) -> list[c.Item]:
    """Return ``struct dim3`` and the struct of the arguments: launch configuration, parameters."""
    int32_x3 = c.ArrayType(c.NamedType("int32_t"), (3,))
    configuration = [
        c.ParameterDecl(int32_x3, "gridDim"),
        c.ParameterDecl(int32_x3, "blockDim"),
        c.ParameterDecl(_INT64, "shared_bytes"),
    ]
    fields = [c.ParameterDecl(type_of(p), _field_name(p)) for p in module.kernel.parameters]
    axes = tuple(c.ParameterDecl(_INT64, axis) for axis in "xyz")
    return [c.Struct("dim3", axes), c.Blank(), c.Struct(f"{name}_args", (*configuration, *fields))]


def _field_name(p: ir.Parameter) -> str:
    return f"p{p.argument}_{p.part.value}{p.axis}"


def read_parameters(
    function: ir.Function, names: Mapping[str, str], type_of: TypeOf
) -> list[c.Stmt]:
    """Return declarations that read the used parameters from the argument struct."""
    names_read = accessed_names(function.body)
    return [
        c.DeclStmt(
            type_of(p), names[p.name], c.MemberExpr(c.Name("args"), _field_name(p), arrow=True)
        )
        for p in function.parameters
        if p.name in names_read
    ]


@dataclass(frozen=True, slots=True)
class Blocks:
    """The code of a block or a row of blocks, and the code before and after the loop over these."""

    prologue: tuple[c.Stmt, ...]
    body: tuple[c.Stmt, ...]
    epilogue: tuple[c.Stmt, ...]
    order: tuple[int, int, int] = (0, 1, 2)
    in_rows: bool = False


def split_block_loop(function: ir.Function) -> tuple[ir.Body, ir.BlockLoop, ir.Body]:
    """Return the code before the loop over blocks of a kernel, the loop, and the code after it."""
    body = function.body
    for i, s in enumerate(body):
        if isinstance(s, ir.BlockLoop):
            return body[:i], s, body[i + 1 :]
    return (), ir.BlockLoop(body, function.span), ()


class EntryPoint(NamedTuple):
    """The kernel of an entry point: its name in C, its variables, and the types of parameters."""

    name: str
    module: ir.Module
    names: Mapping[str, str]
    type_of: TypeOf


def cpu_kernel(entry: EntryPoint, blocks: Blocks, coordinates: tuple[str, ...]) -> c.FunctionDecl:
    """Return the function that the pool calls for the blocks ``first_block`` to ``last_block``."""
    function = entry.module.kernel
    struct = c.PointerType(c.NamedType(f"struct {entry.name}_args", const=True), const=True)
    out: list[c.Stmt] = [c.DeclStmt(struct, "args", c.Name("arguments"))]
    out += read_parameters(function, entry.names, entry.type_of)
    intrinsics = {e.intrinsic for e in all_expressions(function.body) if isinstance(e, ir.Apply)}
    if blocks.in_rows or {"blockIdx", "gridDim"} & set(coordinates):
        out.append(read_extent("gridDim"))
    if blocks.in_rows or "blockDim" in coordinates:
        out.append(read_extent("blockDim"))
    reads_size = any(i.name.rpartition(".")[2] == "shared_bytes" for i in intrinsics)
    if len(out) == 1 and not reads_size:
        out = [discard("arguments")]
    if dynamic_shared_arrays(entry.module):
        out.append(_dynamic_shared())
    loop = (
        _loop_over_rows(intrinsics, blocks)
        if blocks.in_rows
        else [_loop_over_blocks(coordinates, blocks)]
    )
    parameters = (
        c.ParameterDecl(c.PointerType(c.NamedType("void", const=True)), "arguments"),
        c.ParameterDecl(_INT64, "first_block"),
        c.ParameterDecl(_INT64, "last_block"),
    )
    body = (*out, *blocks.prologue, *loop, *blocks.epilogue)
    return c.FunctionDecl(entry.name, c.NamedType("void"), parameters, body)


def discard(name: str) -> c.Stmt:
    """Return ``(void)name;``, which avoids a warning that a variable is unused."""
    return c.ExprStmt(c.CastExpr(c.NamedType("void"), c.Name(name)))


def _dynamic_shared() -> c.Stmt:
    """Declare dynamic shared memory, which the blocks of an OS thread reuse.

    It has the largest size of a device, so that writes beyond the size of the launch are harmless.
    """
    memory_type = c.ArrayType(c.NamedType("unsigned char"), (MAX_SHARED_BYTES,))
    return c.DeclStmt(memory_type, "dynamic_shared", None, ("__attribute__((aligned(64)))",))


def read_extent(name: str) -> c.Stmt:
    """Return the declaration of ``gridDim`` or ``blockDim``, read from the arguments."""
    field = c.MemberExpr(c.Name("args"), name, arrow=True)
    return _declare_dim3(name, [c.Index(field, c.Number(str(axis))) for axis in range(3)])


def _declare_dim3(name: str, values: Sequence[c.Expr]) -> c.Stmt:
    return c.DeclStmt(_DIM3, name, c.CompoundLiteral("", tuple(values)), ("const",))


_BLOCK = c.Name("block")
_GRID = tuple(c.MemberExpr(c.Name("gridDim"), axis) for axis in "xyz")


def _block_index(order: tuple[int, int, int]) -> tuple[c.Expr, c.Expr, c.Expr]:
    """Return the index of a block in the grid from its linear index."""
    inner, middle, outer = order
    row = c.BinaryExpr("/", _BLOCK, _GRID[inner])
    index = {
        inner: c.BinaryExpr("%", _BLOCK, _GRID[inner]),
        middle: c.BinaryExpr("%", row, _GRID[middle]),
        outer: c.BinaryExpr("/", row, _GRID[middle]),
    }
    return index[0], index[1], index[2]


def _loop_over_blocks(coordinates: tuple[str, ...], blocks: Blocks) -> c.Stmt:
    index = _declare_dim3("blockIdx", _block_index(blocks.order))
    body = (index, *blocks.body) if "blockIdx" in coordinates else blocks.body
    condition = c.BinaryExpr("<", _BLOCK, c.Name("last_block"))
    start = c.DeclStmt(_INT64, "block", c.Name("first_block"))
    return c.ForStmt(start, condition, c.Increment(_BLOCK), body)


def _loop_over_rows(intrinsics: Set[Intrinsic], blocks: Blocks) -> list[c.Stmt]:
    """Return the loop over rows of blocks; an iteration runs the blocks of one row."""
    next_block, last = c.Name("next_block"), c.Name("last_block")
    block_size = [c.MemberExpr(c.Name("blockDim"), a) for a in "xyz"]
    inner = blocks.order[0]
    row = c.BinaryExpr("/", _BLOCK, _GRID[inner])
    end = c.BinaryExpr("*", c.BinaryExpr("+", row, c.Number("1")), _GRID[inner])
    is_whole_row = c.BinaryExpr("<", c.Name("row_end"), last)
    body: list[c.Stmt] = [
        c.DeclStmt(_INT64, "row_end", end, ("const",)),
        c.AssignStmt(next_block, c.Conditional(is_whole_row, c.Name("row_end"), last)),
    ]
    index = _block_index(blocks.order)
    count = c.BinaryExpr("-", next_block, _BLOCK)
    for axis, size, first_thread, last_thread in zip(range(3), block_size, ROW_START, ROW_END):
        if not {first_thread, last_thread} & intrinsics:
            continue
        name = f"first_{'xyz'[axis]}"
        body.append(c.DeclStmt(_INT64, name, c.BinaryExpr("*", index[axis], size), ("const",)))
        if last_thread in intrinsics:
            width = c.BinaryExpr("*", count, size) if axis == inner else size
            value = c.BinaryExpr("+", c.Name(name), width)
            body.append(c.DeclStmt(_INT64, f"last_{'xyz'[axis]}", value, ("const",)))
    condition = c.BinaryExpr("<", _BLOCK, last)
    start = c.DeclStmt(_INT64, "block", c.Name("first_block"))
    loop = c.ForStmt(start, condition, c.AssignStmt(_BLOCK, next_block), (*body, *blocks.body))
    return [c.DeclStmt(_INT64, "next_block"), loop]
