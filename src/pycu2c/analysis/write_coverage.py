"""Arrays of which a launch writes every element and reads none: numpy's need not be copied in.

Found are stores at the thread's place in the grid, ``out[i] = …``, that every thread with an
element comes to: under no condition but that ``i`` is less than something, and in loops over
``range(cuda.grid(1), n, cuda.gridsize(1))``. Whether there are threads enough, and those bounds
reach the end of the array, is known at the launch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from pycu2c.analysis.grid_extent import length_of
from pycu2c.base.index_bounds import Length, Overwritten, Place
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Binary,
    Body,
    Break,
    Cast,
    Continue,
    Declare,
    Dim,
    Expr,
    For,
    Function,
    If,
    Junction,
    Logical,
    Module,
    Return,
    Stmt,
    Store,
    Stride,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.operators import GE, GT, LE, LT

_Places: TypeAlias = "Mapping[str, Place]"
_Found: TypeAlias = "dict[str, tuple[Place, ...]]"


def overwritten(module: Module) -> tuple[Overwritten, ...]:
    """Of the kernel's arguments, those that a launch with threads enough overwrites."""
    kernel = module.kernel
    found = _Search(kernel).stored(kernel.body, {})
    arguments = {p.name: p.argument for p in kernel.parameters if isinstance(p.type, Array)}
    read = _read(kernel.body)
    return tuple(
        Overwritten(arguments[name], axes)
        for name, axes in found.items()
        if name in arguments and name not in read
    )


def _read(body: Body) -> set[str]:
    """Names that are more than stored to and measured."""
    mentioned, measured = Counter[str](), Counter[str]()
    for e in all_expressions(body):
        if isinstance(e, Var):
            mentioned[e.name] += 1
        elif isinstance(e, Dim | Stride):
            measured[e.array.name] += 1
    return set(mentioned - measured)


@dataclass(frozen=True, slots=True)
class _Search:
    kernel: Function

    def stored(self, body: Body, places: _Places) -> _Found:
        """The arrays of which the threads that come here store the element of their place."""
        found: _Found = {}
        places = dict(places)
        for s in body:
            match s:
                case Assign() | Declare():
                    self._name(s, places)
                case Store() if not s.path:
                    _keep(s, places, found)
                case If():
                    passed = self._left_by(s, places)
                    if passed is not None:
                        places = passed
                        continue
                    found = self._of_branches(s, places) | found
                case For():
                    found = self._of_loop(s, places) | found
            if _may_leave(s):
                break
        return found

    def _name(self, s: Assign | Declare, places: dict[str, Place]) -> None:
        value = s.value if isinstance(s, Assign) else s.init
        axis = _axis_of(value, "cuda.grid.")
        if axis is not None and self._is_constant(s.var.name):
            places[s.var.name] = Place(axis, strided=False)

    def _length(self, e: Expr) -> Length | None:
        """What a bound is at the launch, if it is known then."""
        bound = _whole(e)
        if isinstance(bound, Var):
            set_here = isinstance(bound.type, Array) or self._setters(bound.name)
            if set_here or not bound.type.dtype.is_integer:
                return None
        return length_of(bound, self.kernel)

    def _is_constant(self, name: str) -> bool:
        """Whether a variable is set once."""
        return self._setters(name) == 1

    def _setters(self, name: str) -> int:
        found = (s for s in statements(self.kernel.body) if isinstance(s, Assign | For | Declare))
        return sum(s.var.name == name for s in found)

    def _left_by(self, s: If, places: _Places) -> dict[str, Place] | None:
        """After ``if i >= n: return``, the places that go on; None for any other statement."""
        if len(s.then) != 1 or not isinstance(s.then[0], Return) or s.orelse:
            return None
        return self._bounded(s.condition, places, Junction.OR)

    def _of_branches(self, s: If, places: _Places) -> _Found:
        bounded = self._bounded(s.condition, places, Junction.AND)
        if bounded is not None:
            return self.stored(s.then, bounded)
        one, other = self.stored(s.then, places), self.stored(s.orelse, places)
        return {name: axes for name, axes in one.items() if other.get(name) == axes}

    def _of_loop(self, s: For, places: _Places) -> _Found:
        axis, step = _axis_of(s.start, "cuda.grid."), _axis_of(s.step, "cuda.gridsize.")
        stop = self._length(s.stop)
        if axis is None or axis != step or stop is None or not self._is_constant(s.var.name):
            return {}
        if any(isinstance(inner, Break) for inner in statements(s.body)):
            return {}
        place = Place(axis, True, frozenset((stop,)))
        return self.stored(s.body, {**places, s.var.name: place})

    def _bounded(
        self, condition: Expr, places: _Places, junction: Junction
    ) -> dict[str, Place] | None:
        """The places below bounds: those that ``i < n and j < m`` is true for, or
        ``i >= n or j >= m`` false. None for any other condition."""
        if isinstance(condition, Logical) and condition.op is junction:
            left = self._bounded(condition.left, places, junction)
            return None if left is None else self._bounded(condition.right, left, junction)
        if not isinstance(condition, Binary):
            return None
        least, greatest = (LT, GT) if junction is Junction.AND else (GE, LE)
        if condition.op not in (least, greatest):
            return None
        sides = condition.left, condition.right
        index, bound = sides if condition.op is least else sides[::-1]
        index, length = _as_integer(index), self._length(bound)
        if not isinstance(index, Var) or index.name not in places or length is None:
            return None
        place = places[index.name]
        return {**places, index.name: place._replace(bounds=place.bounds | {length})}


def _keep(s: Store, places: _Places, found: _Found) -> None:
    axes = [places.get(i.name) if isinstance(i := _whole(e), Var) else None for e in s.indices]
    known = tuple(place for place in axes if place is not None)
    if len(known) == len(axes) and len({place.grid_axis for place in known}) == len(axes):
        found.setdefault(s.array.name, known)


def _may_leave(s: Stmt) -> bool:
    """Whether some threads may not come to what follows a statement."""
    left = any(isinstance(inner, Return) for inner in statements((s,)))
    if isinstance(s, For | While):
        return left
    return left or any(isinstance(inner, Break | Continue) for inner in statements((s,)))


def _axis_of(e: Expr | None, name: str) -> int | None:
    """0 for ``cuda.grid.x()``."""
    if isinstance(e, Apply) and e.intrinsic.name.startswith(name):
        return "xyz".index(e.intrinsic.name.removeprefix(name))
    return None


def _whole(e: Expr) -> Expr:
    """Without conversions that change no number that counts elements."""
    while isinstance(e, Cast) and e.type.dtype.is_integer and e.type.dtype.size == 8:
        e = e.operand
    return e


def _as_integer(e: Expr) -> Expr:
    """What is compared with a bound, without conversions to integers: of a number that is not
    negative they make one that is not greater."""
    while isinstance(e, Cast) and e.type.dtype.is_integer:
        e = e.operand
    return e
