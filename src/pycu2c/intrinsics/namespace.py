"""The ``cuda`` namespace as objects, grown from the names of the rows: ``cuda.atomic.add``."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, TypeAlias

from pycu2c import types
from pycu2c.dtypes import VECTORS
from pycu2c.intrinsics.registry import REGISTRY, ROOMS, Intrinsic
from pycu2c.records import Protocol
from pycu2c.types import Scalar


class Written(Protocol):
    """A function that is written in the kernel language, and its name."""

    __name__: str

    def __call__(self, *given: Any) -> Any: ...


# the scalars are types, the functions written in the kernel language
Member: TypeAlias = "Intrinsic | Namespace | Scalar | Written"


NO_ROOMS: Mapping[str, str] = {}


class Namespace:
    """A name with names in it: ``cuda``, ``cuda.threadIdx``, ``cuda.shared``. ``rooms`` are
    modules with the rows of a name in it, imported when that is asked for; ``more`` those with
    names of its own, imported one by one until there is the name that is asked for."""

    def __init__(
        self,
        name: str,
        members: Mapping[str, Member],
        rooms: Mapping[str, str] = NO_ROOMS,
        more: tuple[str, ...] = (),
    ) -> None:
        self._name = name
        self._rooms = rooms
        self._more = more
        self.__doc__ = f"The names of ``{name}``: {', '.join((*members, *rooms))}."
        self.__dict__.update(members)

    def __repr__(self) -> str:
        return self._name

    def __getattr__(self, name: str) -> Member:
        if name[:1] != "_" and name in self._rooms:
            importlib.import_module(self._rooms[name])
            self.__dict__[name] = found = grown(f"{self._name}.{name}")
            return found
        if name[:1] != "_" and self._more:
            self._grow()
            again: Member = getattr(self, name)
            return again
        raise AttributeError(f"{self._name} has no {name}")

    def _grow(self) -> None:
        """Import the next room of rows."""
        more = self._more
        if not more:  # another thread has imported the last one
            return
        importlib.import_module(more[0])
        found = known(grown(self._name)) | known(self)
        self.__dict__.update((name, m) for name, m in found.items() if name not in self._rooms)
        self._more = more[1:]  # last: until then another thread looks itself

    def __dir__(self) -> list[str]:
        while self._more:
            self._grow()
        return [*known(self), *(name for name in self._rooms if name not in vars(self))]


def known(namespace: Namespace) -> dict[str, Member]:
    """What a namespace holds by now, by name."""
    held = list(vars(namespace).items())  # which other threads may add to
    return {name: m for name, m in held if not name.startswith("_")}


def members(namespace: Namespace) -> dict[str, Member]:
    """All that a namespace holds, by name."""
    return {name: getattr(namespace, name) for name in dir(namespace)}


# rows of another room that numba has here
ALIASES: dict[str, dict[str, str]] = {"cuda": {"cbrt": "math.cbrt"}}
# and functions that are written in the kernel language, once their room is imported
WRITTEN: dict[str, Mapping[str, Member]] = {"cuda.cg": {}, "cuda.fp16": {}, "cuda.bf16": {}}

# types, which numba's newer versions have here, too
_NAMES_OF_TYPES = """
boolean int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64
complex128 bool_ b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 byte char uchar short ushort intc uintc
int_ uint intp uintp long_ ulong longlong ulonglong ssize_t size_t float_ double
"""
TYPES: dict[str, Scalar] = {name: getattr(types, name) for name in _NAMES_OF_TYPES.split()}


def grown(prefix: str) -> Namespace:
    """The namespace of all rows under ``prefix``; rows under a row are the compiler's own."""
    below: dict[str, Member] = {}
    for name in tuple(REGISTRY):  # which other threads may add to
        if not name.startswith(f"{prefix}."):
            continue
        first = name[len(prefix) + 1 :].partition(".")[0]
        if first not in below:
            path = f"{prefix}.{first}"
            below[first] = REGISTRY[path] if path in REGISTRY else grown(path)
    aliases = ALIASES.get(prefix, {}).items()
    also = {name: REGISTRY[row] for name, row in aliases if row in REGISTRY}
    return Namespace(prefix, {**below, **also, **WRITTEN.get(prefix, {})})


CUDA = Namespace(
    "cuda",
    {name: Scalar(row) for name, row in VECTORS.items()} | TYPES,
    {
        "cg": "pycu2c.intrinsics.coalesced",
        "bf16": "pycu2c.cuda.half_pairs",
        "fp16": "pycu2c.cuda.half_pairs",
        "libdevice": "pycu2c.intrinsics.libdevice",
    },
    tuple(
        f"pycu2c.intrinsics.{room}"
        for room in (
            *ROOMS,
            "conversions",
            "eighths",
            "packed_words",
            "pairs",
            "rounding",
            "special",
            "words",
        )
    ),
)


def has_room(name: str) -> bool:
    """Whether ``cuda`` has a namespace of this name."""
    return name in CUDA._rooms or isinstance(known(CUDA).get(name), Namespace)


def find(path: str) -> Member | None:
    """The member of ``cuda`` at a dotted path: ``atomic.add``."""
    member: Member | None = CUDA
    for name in path.split("."):
        member = getattr(member, name, None) if isinstance(member, Namespace) else None
    return member
