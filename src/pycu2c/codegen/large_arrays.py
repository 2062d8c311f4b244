"""Place the arrays of a CPU kernel: on the stack, or in thread-local memory if they are large.

Shared arrays are also in thread-local memory if the threads have tiles
(``transforms/cpu/loops/vectorize_thread_tiles``): gcc 12 keeps a tile in registers only if it
cannot mix up the tile's elements with those of other arrays on the stack.
"""

from __future__ import annotations

import math

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array, MemorySpace
from pycu2c.codegen.names import Names
from pycu2c.csyntax import nodes as c
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import contains, statements

# limit of the total size of a kernel's arrays on the stack; OS threads have small stacks
_MAX_STACK_BYTES = 256 * 1024

# clang keeps the upper registers of AVX-512 across the calls that compute the address of a
# thread-local variable, but the first such call of an OS thread may change them. So the address is
# computed once, outside of loops, and is opaque to the optimizer.
_OPAQUE = '__asm__("" : "+r"(address));'


@dataclass(slots=True)
class ArrayPlacement:
    """Declares the arrays of a kernel, and collects functions that return the large ones."""

    has_thread_tiles: bool = False
    functions: list[c.Item] = field(default_factory=list)
    _stack_bytes: int = 0

    def declare(self, array_type: Array, c_type: c.ArrayType, name: str, names: Names) -> c.Stmt:
        """Return the declaration of an array in a kernel."""
        assert array_type.shape is not None
        size = math.prod(array_type.shape) * array_type.dtype.size
        is_read_by_tiles = self.has_thread_tiles and array_type.space is MemorySpace.SHARED
        if not is_read_by_tiles and self._stack_bytes + size <= _MAX_STACK_BYTES:
            self._stack_bytes += size
            return c.DeclStmt(c_type, name)
        function = names.helper_name(f"memory_of_{name}")
        self.functions += [_address_function(function, c_type), c.Blank()]
        element_type = (
            c.ArrayType(c_type.element, c_type.extents[1:])
            if c_type.extents[1:]
            else c_type.element
        )
        return c.DeclStmt(
            c.PointerType(element_type, restrict=True), name, c.CallExpr(function, ())
        )


def has_thread_tiles(body: ir.Body) -> bool:
    """Return whether a loop over threads contains a loop with vectorized loops."""
    return any(
        isinstance(x, ir.For) and contains(x.body, ir.AxisLoop)
        for s in statements(body)
        if isinstance(s, ir.AxisLoop)
        for x in statements(s.body)
    )


def _address_function(function: str, c_type: c.ArrayType) -> c.FunctionDecl:
    body = (
        c.DeclStmt(c_type, "memory", None, ("static", "_Thread_local")),
        c.DeclStmt(c.PointerType(c.NamedType("void")), "address", c.Name("memory")),
        c.Comment("hides the address from the optimizer, which would compute it again in loops"),
        c.Verbatim(_OPAQUE),
        c.ReturnStmt(c.Name("address")),
    )
    qualifiers = ("static", "__attribute__((noinline))")
    return c.FunctionDecl(function, c.PointerType(c.NamedType("void")), (), body, qualifiers)
