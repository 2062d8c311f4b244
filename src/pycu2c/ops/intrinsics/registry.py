"""The registry of intrinsics, and the decorator that declares them.

The annotations of the decorated function define type inference and its errors, ``dtypes`` the
supported types, ``effect`` the order of evaluation. ``cuda`` and ``c`` return C trees, ``spelling``
the tree of both; code generation adds the helper function that it calls. ``collective`` returns
the result of an operation of several threads (``transforms/cpu/barriers/collective_ir.py``). The
docstring is the user documentation, and the body is the reference semantics. ``declare`` takes
these as arguments, for tables of intrinsics.

Kinds of parameters, as annotations:

=========  ========================================================================
``array``  an array with element type T; without an ``index`` after it, its first element
``index``  an integer, or a tuple of one per axis
``T``      a number, converted to the common type T (the element type if there is an array)
``F``      a number, converted to a floating T; ints and Python floats become ``float``
``int``    an integer
``bool``   a condition
``coordinate``  a number, converted to float32
``texture2d``  a texture or surface (``surface2d``) with that many axes; T is the type of a read
``int32``  or another type name: a number, converted to this type
``number`` a number of any type; the front end has a handler for the intrinsic
``const``  a compile-time constant; the front end has a handler for the intrinsic
=========  ========================================================================

The last parameters may have integer defaults.

Results: ``T``, ``F``, ``R`` (the type of T's real part), ``int``, ``bool``, ``None``, the name of
a type, or ``form`` (the handler of the front end decides). ``c_result`` is the type of an ``int``
result in C, if it differs; code generation converts it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeAlias

from pycu2c.base.dtypes import DType
from pycu2c.base.lazy_imports import import_module
from pycu2c.base.numba_typing import reject_kernel_name
from pycu2c.base.records import dataclass, field
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import Collective, Value
from pycu2c.ops.operators import Operator

Spelling: TypeAlias = "Callable[[Mapping[str, c.Expr], DType], c.Expr]"
CollectiveResult: TypeAlias = "Callable[[Collective], Value]"


class Effect(Enum):
    """The side effect of a call."""

    PURE = "pure"
    MEMORY = "memory"  # accesses memory: not removed, not reordered
    BARRIER = "barrier"  # synchronizes the threads of a block
    WARP = "warp"  # synchronizes the lanes of a mask, which is the first argument, if any
    CLUSTER = "cluster"  # synchronizes the threads of a cluster
    GRID = "grid"  # synchronizes the threads of the grid
    FORM = "form"  # a special form, which the front end lowers; never in the IR


@dataclass(frozen=True, slots=True, eq=False)
class TypedOperation:
    """An operation whose operands and result are converted to the given types, if any."""

    operation: Intrinsic | Operator
    operand_types: tuple[DType, ...] = ()
    result_type: DType | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Intrinsic:
    # An entry of the registry. Users see it as a function of the ``cuda`` namespace with its own
    # ``__doc__``, which a docstring here would hide.

    name: str
    parameters: tuple[tuple[str, str], ...]  # name, kind
    result: str
    effect: Effect
    dtypes: tuple[DType, ...]
    reference: Callable[..., Any]
    cuda: Spelling | None
    c: Spelling | None
    # in place of ``c``, if the result depends on other threads or on the lane
    collective: CollectiveResult | None = None
    reads: bool = False  # only reads memory
    is_special_register: bool = False  # used without a call: cuda.threadIdx.x
    is_divergent: bool = False  # differs between the threads of a block
    bounds: tuple[int, int] | None = None  # of an integer result: minimum and maximum
    c_result: DType | None = None  # the type of an integer result in C
    cuda_headers: tuple[str, ...] = ()  # that its CUDA spelling needs
    bindings: tuple[object, ...] = field(default=(), repr=False)  # objects that denote it
    arch: str = ""  # the first architecture that supports it, if not all do
    overloads: tuple[str, ...] = ()  # signatures for type checkers, if the kinds are not enough
    expands_to: tuple[TypedOperation, ...] = ()  # of a special form: one operation per result

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.reference) or ""

    _numba_type_ = property(reject_kernel_name)

    # attributes that help() and editors read

    @property
    def __name__(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return self.doc

    @property
    def __signature__(self) -> inspect.Signature:
        kind, defaults = inspect.Parameter.POSITIONAL_OR_KEYWORD, self.defaults
        unknown = inspect.Signature.empty  # of a result that depends on the arguments
        return inspect.Signature(
            [
                inspect.Parameter(n, kind, default=defaults.get(n, unknown), annotation=annotation)
                for n, annotation in self.parameters
            ],
            return_annotation=unknown if self.result == "form" else self.result,
        )

    @property
    def call(self) -> str:
        """Return ``cuda.shfl_sync(mask: int, value: T, src_lane: int, width: int = 32) -> T``."""
        if self.is_special_register:
            return self.name
        parameters = (
            f"{n}: {kind} = {self.defaults[n]}" if n in self.defaults else f"{n}: {kind}"
            for n, kind in self.parameters
        )
        result = "" if self.result in ("None", "form") else f" -> {self.result}"
        return f"{self.name}({', '.join(parameters)}){result}"

    @property
    def defaults(self) -> dict[str, int]:
        """The default values of parameters."""
        own = inspect.signature(self.reference).parameters.values()
        return {p.name: p.default for p in own if p.default is not p.empty}

    @property
    def is_pure(self) -> bool:
        """Whether a call has no side effect, so that it may be removed, moved and duplicated."""
        return self.effect is Effect.PURE

    @property
    def synchronizes(self) -> bool:
        """Whether a call synchronizes threads."""
        return self.effect in (Effect.BARRIER, Effect.WARP, Effect.CLUSTER, Effect.GRID)

    @property
    def has_effect(self) -> bool:
        """Whether a call must not be removed or reordered, even if its value is not used."""
        return self.effect is Effect.MEMORY or self.synchronizes

    def __call__(self, *_: object, **__: object) -> Any:
        raise RuntimeError(
            f"{self.name} has a meaning inside a kernel only; decorate the function with @kernel"
        )

    def __repr__(self) -> str:
        return f"<intrinsic {self.call}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _registered, (self.name,)


# modules with functions that denote intrinsics
BINDING_MODULES = ("cmath", "math", "numpy")


def import_all() -> None:
    """Import every module that declares intrinsics."""
    import_module("pycu2c.ops.intrinsics.all")


class _Registry(dict[str, "Intrinsic"]):
    """Intrinsics by name; the first lookup of a missing name imports all declarations."""

    def __missing__(self, name: str) -> Intrinsic:
        import_all()
        intrinsic = self.get(name)  # another thread may have imported it in the meantime
        if intrinsic is None:
            raise KeyError(name)
        return intrinsic


REGISTRY = _Registry()
_BY_BINDING: dict[int, Intrinsic] = {}


def _registered(name: str) -> Intrinsic:
    return REGISTRY[name]


def intrinsic(
    name: str,
    *,
    effect: Effect = Effect.PURE,
    dtypes: tuple[DType, ...] = (),
    cuda: Spelling | None = None,
    c: Spelling | None = None,
    spelling: Spelling | None = None,
    **properties: Any,
) -> Callable[[Callable[..., Any]], Intrinsic]:
    """Declare an intrinsic: the decorated function has its semantics, its annotations the types.

    A module declares its intrinsics again if Ctrl-C has ended its first import.
    """

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
            cuda or spelling,
            c or spelling,
            **properties,
        )
        REGISTRY[name] = declared
        for bound in declared.bindings:
            assert _module_of(bound) in BINDING_MODULES, (
                f"{name} binds a function of another module"
            )
            _BY_BINDING[id(bound)] = declared
        return declared

    return declare


def declare(
    module: str, name: str, signature: str, compute: Callable[..., Any], doc: str, **properties: Any
) -> Intrinsic:
    """Declare an intrinsic of a table by its signature, such as ``x: F, n: int -> F``.

    module: the module of the table. compute: returns the result from the arguments.
    """
    parameters, _, result = signature.rpartition(" -> ")

    def body(*arguments: Any) -> Any:
        return compute(*arguments)

    body.__module__, body.__doc__ = module, doc
    kinds = dict(parameter.split(": ") for parameter in parameters.split(", "))
    body.__annotations__ = {**kinds, "return": result}
    return intrinsic(name, **properties)(body)


def _module_of(function: object) -> object:
    """Return the module of a function; ufuncs of older NumPy versions have no ``__module__``."""
    return getattr(function, "__module__", "numpy")


def bound_to(value: object) -> Intrinsic | None:
    """Return the intrinsic that a Python object, such as ``math.sin``, denotes, or None."""
    if isinstance(value, Intrinsic):
        return value
    if isinstance(value, type) or not callable(value):
        return None
    if _module_of(value) not in BINDING_MODULES:
        return None
    import_all()
    return _BY_BINDING.get(id(value))
