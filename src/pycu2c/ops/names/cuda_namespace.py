"""The ``cuda`` namespace as objects, built from the names of intrinsics: ``cuda.atomic.add``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from pycu2c.base import types
from pycu2c.base.dtypes import VECTORS
from pycu2c.base.lazy_imports import import_module
from pycu2c.base.numba_typing import reject_kernel_name
from pycu2c.base.types import Scalar
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, import_all


class LibraryFunction(Protocol):
    """A function in the kernel language."""

    __name__: str

    def __call__(self, *arguments: Any) -> Any: ...


# a Scalar is a type; a LibraryFunction is written in the kernel language
Member: TypeAlias = "Intrinsic | Namespace | Scalar | LibraryFunction"


NO_MEMBERS: Mapping[str, Any] = {}


class Namespace:
    """A namespace whose members are resolved lazily: ``cuda``, ``cuda.threadIdx``, ``cuda.shared``.

    It has the given ``members``, the intrinsics under its name, and the namespaces in ``inner``,
    which maps each name to the module that declares its members, or "". ``module`` declares more
    members in the kernel language.
    """

    def __init__(
        self,
        name: str,
        members: Mapping[str, Member] = NO_MEMBERS,
        inner: Mapping[str, str] = NO_MEMBERS,
        module: str = "",
    ) -> None:
        self._name = name
        self._inner = inner
        self._module = module
        self.__dict__.update(members)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return f"The names of ``{self._name}``: {', '.join(dir(self))}."

    def __repr__(self) -> str:
        return self._name

    def __reduce__(self) -> str | tuple[object, ...]:
        outer, _, name = self._name.rpartition(".")
        parent = functools.reduce(getattr, outer.split(".")[1:], CUDA)
        return (getattr, (parent, name)) if outer else "CUDA"

    _numba_type_ = property(reject_kernel_name)

    def __getattr__(self, name: str) -> Member:
        value = None if name.startswith("_") else self._find(name)
        if value is None:
            raise AttributeError(f"{self._name} has no {name}")
        member: Member = self.__dict__.setdefault(name, value)  # the same object for all threads
        return member

    def _find(self, name: str) -> Member | None:
        path = f"{self._name}.{name}"
        if name in self._inner:
            types_inside = {"bfloat16": TYPES["bfloat16"]} if name == "bf16" else NO_MEMBERS
            return Namespace(path, types_inside, module=self._inner[name])
        self._import()
        return _declared(path)

    def _import(self) -> None:
        import_all()
        if self._module:
            import_module(self._module)

    def __dir__(self) -> list[str]:
        self._import()
        start = f"{self._name}."
        own_names = [name for name in vars(self) if not name.startswith("_")]
        paths = (*REGISTRY, *ALIASES, *LIBRARY_FUNCTIONS)
        child_names = [
            p.removeprefix(start).partition(".")[0] for p in paths if p.startswith(start)
        ]
        return list(dict.fromkeys((*own_names, *self._inner, *child_names)))


def _declared(path: str) -> Member | None:
    """Return the member at a path, if an imported module declares it."""
    return LIBRARY_FUNCTIONS.get(path) or REGISTRY.get(ALIASES.get(path, path))


def members(namespace: Namespace) -> dict[str, Member]:
    """Return all members of a namespace by name."""
    return {name: getattr(namespace, name) for name in dir(namespace)}


# names of numba.cuda for intrinsics of another namespace
ALIASES = {"cuda.cbrt": "math.cbrt"}
# functions in the kernel language, once their module is imported
LIBRARY_FUNCTIONS: dict[str, LibraryFunction] = {}

# types that newer versions of numba export from numba.cuda
_TYPE_NAMES = """
boolean int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64
complex128 bool_ b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 byte char uchar short ushort intc uintc
int_ uint intp uintp long_ ulong longlong ulonglong ssize_t size_t float_ double
"""
TYPES: dict[str, Scalar] = {name: getattr(types, name) for name in _TYPE_NAMES.split()}


_INNER = (
    *("threadIdx", "blockIdx", "blockDim", "gridDim"),
    *("shared", "local", "const", "atomic", "cg", "libdevice"),
)
CUDA = Namespace(
    "cuda",
    {name: Scalar(dtype) for name, dtype in VECTORS.items()} | TYPES,
    {
        **dict.fromkeys(_INNER, ""),
        **dict.fromkeys(("fp16", "bf16"), "pycu2c.device_library.half_pairs"),
    },
)


def has_namespace(name: str) -> bool:
    """Return whether ``cuda`` has a namespace of this name."""
    return name in CUDA._inner


def find(path: str) -> Member | None:
    """Return the member of ``cuda`` at a dotted path, ``atomic.add``, or None."""
    member: Member | None = CUDA
    for name in path.split("."):
        member = getattr(member, name, None) if isinstance(member, Namespace) else None
    return member
