"""What stands around a block's code in a CPU kernel: the arguments' struct, the loop over
blocks, and the coordinates that CUDA has as built-in variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pycu2c.csyntax import nodes as c
from pycu2c.ir.calls import summarized
from pycu2c.ir.effects import mentioned, takes_dynamic_shared
from pycu2c.ir.nodes import (
    Apply,
    BlockLoop,
    Body,
    Call,
    Function,
    Module,
    Parameter,
    ThreadLoop,
)
from pycu2c.ir.walk import all_expressions, statements

PLACES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_DIM3 = c.Named("struct dim3")
_INT = c.Named("int64_t")
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
        if any(isinstance(s, ThreadLoop) for s in statements(function.body)):
            found |= {"threadIdx", "blockDim"}
        return tuple(place for place in PLACES if place in found)

    return summarized((*module.devices, module.kernel), read, ())


def cpu_types(module: Module, name: str, type_of: TypeOf) -> list[c.Item]:
    """``struct dim3`` and the struct that a launch packs: its head, then the parameters."""
    three = c.ArrayOf(c.Named("int32_t"), (3,))
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
    read = mentioned(function.body)
    return [
        c.Declare(type_of(p), names[p.name], c.Member(c.Name("args"), _field(p), arrow=True))
        for p in function.parameters
        if p.name in read
    ]


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a kernel does for each block, and what an OS thread does before and after them."""

    before: tuple[c.Stmt, ...]
    each: tuple[c.Stmt, ...]
    after: tuple[c.Stmt, ...]


def around_blocks(body: Body) -> tuple[Body, Body, Body]:
    """What stands before a kernel's loop over blocks, in it, and after it."""
    for i, s in enumerate(body):
        if isinstance(s, BlockLoop):
            return body[:i], s.body, body[i + 1 :]
    return (), body, ()


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
    struct = c.Pointer(c.Named(f"struct {name}_args", const=True), const=True)
    out: list[c.Stmt] = [c.Declare(struct, "args", c.Name("arguments"))]
    read = mentioned(function.body)
    out += parameters_read(function, names, type_of)
    if {"blockIdx", "gridDim"} & set(places):
        out += extent_read("gridDim")
    if "blockDim" in places:
        out += extent_read("blockDim")
    dynamic = takes_dynamic_shared(module)
    if dynamic:
        out.append(_dynamic_shared())
    out += blocks.before
    inside: list[c.Stmt] = [c.Declare(_DIM3, "threadIdx")] if "threadIdx" in places else []
    inside = [*(_block_index() if "blockIdx" in places else ()), *inside, *blocks.each]
    block = c.Name("block")
    out.append(
        c.For(
            c.Declare(_INT, "block", c.Name("first_block")),
            c.Binary("<", block, c.Name("last_block")),
            c.Step(block),
            tuple(inside),
        )
    )
    out += blocks.after
    parameters = (
        c.Parameter(c.Pointer(c.Named("void", const=True)), "arguments"),
        c.Parameter(_INT, "first_block"),
        c.Parameter(_INT, "last_block"),
    )
    if not read and not places and not dynamic:
        out[0] = c.Evaluate(c.Cast(c.Named("void"), c.Name("arguments")))
    return c.Function(name, c.Named("void"), parameters, tuple(out))


def _dynamic_shared() -> c.Stmt:
    """One after the other, the blocks of this OS thread take the same bytes."""
    size = c.Member(c.Name("args"), "shared_bytes", arrow=True)
    bytes_of = c.ArrayOf(c.Named("unsigned char"), (size,))
    return c.Declare(bytes_of, "dynamic_shared", None, ("__attribute__((aligned(64)))",))


def extent_read(place: str) -> list[c.Stmt]:
    """``gridDim`` or ``blockDim``, from the arguments."""
    field = c.Member(c.Name("args"), place, arrow=True)
    values = [c.Index(field, c.Number(str(axis))) for axis in range(3)]
    return _filled(place, values)


def _filled(place: str, values: Sequence[c.Expr]) -> list[c.Stmt]:
    members = [c.Member(c.Name(place), axis) for axis in "xyz"]
    assigned = [c.Assign(member, value) for member, value in zip(members, values)]
    return [c.Declare(_DIM3, place), *assigned]


def _block_index() -> list[c.Stmt]:
    block, x, y = c.Name("block"), *(c.Member(c.Name("gridDim"), axis) for axis in "xy")
    row = c.Binary("/", block, x)
    return _filled(
        "blockIdx",
        [
            c.Binary("%", block, x),
            c.Binary("%", row, y),
            c.Binary("/", row, y),
        ],
    )
