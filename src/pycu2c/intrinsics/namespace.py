"""The ``cuda`` namespace as objects, grown from the names of the rows: ``cuda.atomic.add``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pycu2c.dtypes import VECTORS
from pycu2c.intrinsics.all import REGISTRY
from pycu2c.intrinsics.registry import Intrinsic
from pycu2c.types import Scalar

Member: TypeAlias = "Intrinsic | Namespace | Scalar"  # the scalars are types of vectors


class Namespace:
    """A name with names in it: ``cuda``, ``cuda.threadIdx``, ``cuda.shared``."""

    def __init__(self, name: str, members: Mapping[str, Member]) -> None:
        self._name = name
        self.__doc__ = f"The names of ``{name}``: {', '.join(members)}."
        self.__dict__.update(members)

    def __repr__(self) -> str:
        return self._name

    def __getattr__(self, name: str) -> Member:
        raise AttributeError(f"{self._name} has no {name}")

    def __dir__(self) -> list[str]:
        return list(members(self))


def members(namespace: Namespace) -> dict[str, Member]:
    """What a namespace holds, by name."""
    return {name: m for name, m in vars(namespace).items() if not name.startswith("_")}


def grown(prefix: str) -> Namespace:
    """The namespace of all rows under ``prefix``; rows under a row are the compiler's own."""
    below: dict[str, Member] = {}
    for name in REGISTRY:
        if not name.startswith(f"{prefix}."):
            continue
        first = name[len(prefix) + 1 :].partition(".")[0]
        if first not in below:
            path = f"{prefix}.{first}"
            below[first] = REGISTRY[path] if path in REGISTRY else grown(path)
    return Namespace(prefix, below)


CUDA = Namespace(
    "cuda",
    members(grown("cuda")) | {name: Scalar(row) for name, row in VECTORS.items()},
)


def find(path: str) -> Member | None:
    """The member of ``cuda`` at a dotted path: ``atomic.add``."""
    member: object = CUDA
    for name in path.split("."):
        member = members(member).get(name) if isinstance(member, Namespace) else None
    return member if isinstance(member, (Intrinsic, Namespace, Scalar)) else None
