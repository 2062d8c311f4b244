"""Where the arrays of a CPU kernel's blocks are: on the stack, or in memory that each OS thread
has for itself."""

from __future__ import annotations

import math

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array
from pycu2c.codegen.names import Names
from pycu2c.csyntax import nodes as c

# of the arrays together, shared, local and over barriers: the stacks of threads are small
_MOST_ON_STACK = 256 * 1024

# clang keeps AVX-512's upper registers over its calls for thread-local variables, though the first
# of an OS thread may change them. So no loop makes such a call, and no optimiser sees through this
_UNSEEN = '__asm__("" : "+r"(place));'


@dataclass(slots=True)
class BigArrays:
    """The arrays that found no room on the stack, each with a function that gives its place."""

    functions: list[c.Item] = field(default_factory=list)
    _on_stack: int = 0  # bytes

    def declare(self, kind: Array, of: c.ArrayType, name: str, names: Names) -> c.Stmt:
        """The declaration of an array in a kernel, wherever it is."""
        assert kind.shape is not None
        size = math.prod(kind.shape) * kind.dtype.size
        if self._on_stack + size <= _MOST_ON_STACK:
            self._on_stack += size
            return c.Declare(of, name)
        function = names.of_helper(f"room_for_{name}")
        self.functions += [_gives_room(function, of), c.Blank()]
        row = c.ArrayType(of.of, of.extents[1:]) if of.extents[1:] else of.of
        return c.Declare(c.PointerType(row, restrict=True), name, c.Call(function, ()))


def _gives_room(function: str, of: c.ArrayType) -> c.Function:
    body = (
        c.Declare(of, "room", None, ("static", "_Thread_local")),
        c.Declare(c.PointerType(c.NamedType("void")), "place", c.Name("room")),
        c.Comment("asked for once, not by the loops again and again"),
        c.Verbatim(_UNSEEN),
        c.Return(c.Name("place")),
    )
    qualifiers = ("static", "__attribute__((noinline))")
    return c.Function(function, c.PointerType(c.NamedType("void")), (), body, qualifiers)
