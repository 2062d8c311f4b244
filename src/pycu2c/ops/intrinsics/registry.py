"""What an intrinsic is: one decorated function, from which everything else follows.

The annotations drive inference and the "does not accept" errors; ``dtypes`` the docs column
and the test matrix; ``effect`` the order of evaluation; ``cuda`` and ``c`` give C trees; the
docstring feeds the docs; the body is what the reference interpreter runs.

Kinds of parameters, as annotations:

=========  ========================================================================
``array``  an array; its element type is T. Followed by ``index``, or its first element is meant
``index``  an integer, or a tuple of one per axis
``T``      a number, converted to the common type T (the element type if there is an array)
``F``      a number that T makes floating: ints and Python floats count as ``float``
``int``    a whole number
``bool``   a number that is true or not
``coordinate``  a number, converted to float32
``texture2d``  a texture of so many axes, or a ``surface2d``; T is what its elements are read as
``int32``  and other names of types: a number, converted to that
``number`` a number of a type of its own; the frontend has a handler for the intrinsic
``const``  known at compile time; the frontend has a handler for the intrinsic
=========  ========================================================================

The last parameters may have defaults, which are whole numbers.

Results: ``T``, ``F``, ``R`` (the type of T's real part), ``int``, ``bool``, ``None``, the name of
a type, or ``form`` (the frontend's handler says). Where C has another type for an ``int``,
``gives`` says which, and emission converts it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeAlias

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass, field
from pycu2c.ops.intrinsics.c_tree import c
from pycu2c.ops.operators import Operator

Spell: TypeAlias = "Callable[[Mapping[str, c.Expr], DType], c.Expr]"


class Effect(Enum):
    """What a call does besides giving a value."""

    PURE = "pure"
    MEMORY = "memory"  # reads and writes memory: kept, and kept in order
    BARRIER = "barrier"  # threads of a block meet
    WARP = "warp"  # lanes of a warp meet; the first argument, if there is one, is their mask
    CLUSTER = "cluster"  # threads of some blocks meet
    GRID = "grid"  # all threads of the grid meet
    FORM = "form"  # a construct of the frontend; never in the IR


@dataclass(frozen=True, slots=True, eq=False)
class TypedOperation:
    """A row or operator that is given numbers of these types, as they are if there are none; what
    it gives is converted to a type, if there is one."""

    operation: Intrinsic | Operator
    operand_types: tuple[DType, ...] = ()
    result_type: DType | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Intrinsic:
    # A row of the registry. Users see it as a function of the ``cuda`` namespace, with its own
    # ``__doc__``: a docstring here would be in the way.

    name: str
    parameters: tuple[tuple[str, str], ...]  # name, kind
    result: str
    effect: Effect
    dtypes: tuple[DType, ...]
    reference: Callable[..., Any]
    cuda: Spell | None
    c: Spell | None
    reads: bool = False  # memory, and writes none
    is_attribute: bool = False  # read like a variable: cuda.threadIdx.x
    is_divergent: bool = False  # differs between the threads of a block
    bounds: tuple[int, int] | None = None  # of an integer result: least and greatest
    c_result: DType | None = None  # the type that C has for an integer result
    c_helpers: tuple[str, ...] = ()  # names in codegen/helpers/catalog.py that its C spelling calls
    cuda_helpers: tuple[str, ...] = ()
    cuda_headers: tuple[str, ...] = ()  # that its CUDA spelling needs
    bindings: tuple[object, ...] = field(default=(), repr=False)  # objects that users call it by
    arch: str = ""  # the first GPUs that have it, if not all do
    overloads: tuple[str, ...] = ()  # for type checkers, where the kinds do not say enough
    expands_to: tuple[
        TypedOperation, ...
    ] = ()  # of a form that is other rows, their results in a tuple

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.reference) or ""

    # what help() and editors ask a function for

    @property
    def __name__(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return self.doc

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.reference)

    @property
    def defaults(self) -> dict[str, int]:
        """What parameters are that a call leaves out."""
        own = inspect.signature(self.reference).parameters.values()
        return {p.name: p.default for p in own if p.default is not p.empty}

    @property
    def is_pure(self) -> bool:
        """Whether it gives a value and does nothing else: it may be dropped, moved, repeated."""
        return self.effect is Effect.PURE

    @property
    def synchronizes(self) -> bool:
        """Whether threads wait for one another there."""
        return self.effect in (Effect.BARRIER, Effect.WARP, Effect.CLUSTER, Effect.GRID)

    @property
    def has_effect(self) -> bool:
        """Whether a call must be kept, in order and in its place, when its value is not used."""
        return self.effect is Effect.MEMORY or self.synchronizes

    def __call__(self, *_: object, **__: object) -> Any:
        raise RuntimeError(
            f"{self.name} has a meaning inside a kernel only; decorate the function with @kernel"
        )

    def __repr__(self) -> str:
        return f"<intrinsic {self.name}>"


# modules whose functions intrinsics stand for
BINDING = ("cmath", "math", "numpy")


def import_all() -> None:
    """Import every module that declares intrinsics."""
    importlib.import_module("pycu2c.ops.intrinsics.all")


class _Registry(dict[str, "Intrinsic"]):
    """Intrinsics by name. The first name that is missing imports all of them."""

    def __missing__(self, name: str) -> Intrinsic:
        import_all()
        found = self.get(name)  # another thread may have imported it since it was missed
        if found is None:
            raise KeyError(name)
        return found


REGISTRY = _Registry()
_BY_BINDING: dict[int, Intrinsic] = {}


def intrinsic(
    name: str,
    *,
    effect: Effect = Effect.PURE,
    dtypes: tuple[DType, ...] = (),
    cuda: Spell | None = None,
    c: Spell | None = None,
    **properties: Any,
) -> Callable[[Callable[..., Any]], Intrinsic]:
    """Declare an intrinsic: the decorated function is its meaning, its annotations its typing."""

    def declare(body: Callable[..., Any]) -> Intrinsic:
        notes = dict(body.__annotations__)  # strings: this package defers annotations
        result = notes.pop("return")
        declared = Intrinsic(
            name,
            tuple((n, str(k)) for n, k in notes.items()),
            str(result),
            effect,
            dtypes,
            body,
            cuda,
            c,
            **properties,
        )
        assert name not in REGISTRY, f"{name} is declared twice"
        REGISTRY[name] = declared
        for bound in declared.bindings:
            assert _home(bound) in BINDING, f"{name} stands for a function of another module"
            _BY_BINDING[id(bound)] = declared
        return declared

    return declare


def _home(function: object) -> object:
    """The module of a function; ufuncs of older numpys do not say."""
    return getattr(function, "__module__", "numpy")


def bound_to(value: object) -> Intrinsic | None:
    """The intrinsic that a Python object, such as ``math.sin``, stands for."""
    if isinstance(value, Intrinsic):
        return value
    if isinstance(value, type) or not callable(value):
        return None
    if _home(value) not in BINDING:
        return None
    import_all()
    return _BY_BINDING.get(id(value))
