"""What each argument of a launch has to be for the next one to be the same to the compiler.

Rows for ``plan.c``, made of a launch that has run. Knows neither kernels nor how they are started.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import ArgumentPart
from pycu2c.base.records import dataclass
from pycu2c.base.types import Constant, ParameterType, Scalar, Tuple, leaf_types
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.arguments import Layout
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.cuda import peer_access

# kinds of guards: in the order of plan.c
_NUMPY, _OWN, _INTERFACE, _ATTRIBUTES = range(4)
_WHOLE, _FLOAT_OF_WHOLE, _DOUBLE_OF_WHOLE, _FLOAT_OF_DOUBLE, _DOUBLE_OF_FLOAT = range(4, 9)
_RAW, _SAME, _TUPLE = range(9, 12)
_CONTIGUOUS = 1
_OWNING, _WRITEABLE_OF_NUMPY, _WRITEABLE = 4, 0x400, 2
_ARRAY_ROW, _NUMBER_ROW = struct.Struct("@2i2P4i4iP"), struct.Struct("@2i2P4i2qq")
_EXACT = 1 << 53  # whole numbers up to it are float64s


class NoPlan(Exception):
    """A launch that is too rare for the C to know."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A launch that has run: its arguments, what they are to the kernel, what it does to them.
    ``trusted``: nothing is looked at but what kinds of arguments they are."""

    values: tuple[object, ...]
    types: tuple[ParameterType, ...]
    leaves: tuple[Argument, ...]
    written: Collection[int]  # arrays, by their leaves
    limits: Mapping[int, int]  # how far leaves that are whole numbers may lie from 0
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Guard:
    """A row of a plan. ``kind_of`` is the class that the argument has, exactly. The others are
    those of plan.c."""

    kind: int
    kind_of: type
    one: object = None
    count: int = 0
    mask: int = 0
    flags: int = 0
    alignment: int = 1
    size: int = 1
    trusted: bool = False
    least: int = 0
    most: int = 0
    source: int = 0
    words: int = 0
    dtype: int = 0
    device: int = 0
    current: object = None

    @property
    def held(self) -> tuple[object, ...]:
        return self.kind_of, self.one, self.current

    def packed(self) -> bytes:
        pointers = id(self.kind_of), id(self.one)
        form = self.mask, self.flags, self.alignment, self.size
        begin = (self.kind, self.count, *pointers, *form)
        if self.kind <= _ATTRIBUTES:
            places = self.trusted, self.device, self.words, self.dtype
            return _ARRAY_ROW.pack(*begin, *places, id(self.current))
        return _NUMBER_ROW.pack(*begin, self.least, self.most, self.source)


def guards_of(seen: Seen, layout: Layout, on_device: bool) -> Iterator[Guard]:
    """A guard for each argument, those of a tuple's items after its own. Raises NoPlan."""
    kept = {p.argument: p.type.dtype for p in layout.parameters if p.part is ArgumentPart.VALUE}
    declared = [kind.dtype for kind in chain.from_iterable(map(leaf_types, seen.types))]
    leaf = 0
    for value, kind in chain.from_iterable(map(_parts, seen.values, seen.types)):
        match kind:
            case Constant():
                yield Guard(_SAME, type(value), value)
                continue
            case Tuple(items):
                yield Guard(_TUPLE, type(value), count=len(items))
                continue
            case Scalar():
                limit = seen.limits.get(leaf)
                yield _of_number(value, kept.get(leaf, declared[leaf]), declared[leaf], limit)
            case _:
                yield _of_array(value, seen, leaf, on_device)
        leaf += 1


def _parts(value: Any, kind: ParameterType) -> Iterator[tuple[Any, ParameterType]]:
    """A value, and those in it, depth first. (No function in here calls itself by a closure: such
    a cycle would keep arrays alive.)"""
    yield value, kind
    if isinstance(kind, Tuple):
        if not isinstance(value, tuple):
            raise NoPlan
        yield from chain.from_iterable(map(_parts, value, kind.items))


# ---- arrays --------------------------------------------------------------------------------


def copied_of(seen: Seen) -> list[int]:
    """The leaves that are copied for a launch on a device: arrays of the host."""
    leaves = enumerate(seen.leaves)
    return [k for k, a in leaves if isinstance(a, ArrayArgument) and a.where != "device"]


def _of_array(value: object, seen: Seen, leaf: int, on_device: bool) -> Guard:
    argument = seen.leaves[leaf]
    assert isinstance(argument, ArrayArgument)
    is_there, is_numpy = argument.where == "device", isinstance(value, np.ndarray)
    is_copied = on_device and not is_there
    if (is_there and not on_device) or (is_copied and not (is_numpy and argument.contiguous)):
        raise NoPlan
    if (
        is_there
        and driver.has_multiple_devices()
        and peer_access.ordinal_of(argument) != driver.current_ordinal()
    ):
        raise NoPlan  # it is waited for, both ways
    written = leaf in seen.written and not seen.trusted
    writeable = _WRITEABLE_OF_NUMPY if is_numpy else _WRITEABLE
    common = {
        "count": len(argument.shape),
        "mask": _CONTIGUOUS | (writeable if written else 0),
        "flags": (_CONTIGUOUS if argument.contiguous else 0) | (writeable if written else 0),
        "alignment": argument.dtype.alignment,
        "size": argument.dtype.size,
        "trusted": seen.trusted,
    }
    if isinstance(value, np.ndarray):
        return _of_numpy(value, common, is_copied)
    if hasattr(type(value), "_words"):
        return _of_own(value, common)
    return _of_foreign(value, argument, common)


_SAME_TO_SUBCLASSES = ("__array_interface__", "dtype", "shape", "strides", "flags")


def _of_numpy(value: np.ndarray[Any, Any], common: dict[str, Any], is_copied: bool) -> Guard:
    """One that is copied owns its memory: it shares none with another, nor does a device use it
    where it is."""
    kind = type(value)
    if is_copied and not value.flags.owndata:
        raise NoPlan
    if is_copied:
        flags = {name: common[name] | _OWNING for name in ("mask", "flags")}
        common = {**common, **flags}
    if any(getattr(kind, name) is not getattr(np.ndarray, name) for name in _SAME_TO_SUBCLASSES):
        raise NoPlan
    return Guard(_NUMPY, kind, value.dtype, **common)


def _of_own(value: Any, common: dict[str, Any]) -> Guard:
    kind, dtype = type(value), value.dtype
    places = {name: place_of(kind, name) for name in ("_words", "dtype")}
    if not all(place and _holds(value, name, place) for name, place in places.items()):
        raise NoPlan
    _, device = struct.unpack_from("@2q", value._words)
    words, of_dtype = places.values()
    return Guard(_OWN, kind, dtype, words=words, dtype=of_dtype, device=device, **common)


def _holds(value: object, name: str, place: int) -> bool:
    found = ctypes.c_void_p.from_address(id(value) + place).value
    return found == id(getattr(value, name))


def place_of(kind: type, name: str) -> int:
    """Where objects of a class have a slot, in bytes from their start; 0 if it has none of this
    name. A descriptor of a slot is three pointers after the head of an object, and then one to a
    C struct of a name, a type and the place."""
    slot = vars(kind).get(name)
    if type(slot).__name__ != "member_descriptor":
        return 0
    member = ctypes.c_void_p.from_address(id(slot) + 40).value or 0
    return int(ctypes.c_ssize_t.from_address(member + 16).value)


def _of_foreign(value: Any, argument: ArrayArgument, common: dict[str, Any]) -> Guard:
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None or argument.dtype.fields:
        raise NoPlan
    package = PACKAGES.get(f"{type(value).__module__}.{type(value).__name__}")
    found = package and argument.contiguous and package.read(value, argument.address)
    if found:
        return Guard(_ATTRIBUTES, type(value), found.paths, current=found.current, **common)
    if driver.has_multiple_devices():  # it does not say where it is
        raise NoPlan
    return Guard(_INTERFACE, type(value), interface["typestr"], **common)


_Path: TypeAlias = tuple[str | None, ...]  # from attribute to attribute; None: it is called


@dataclass(frozen=True, slots=True)
class Read:
    """Where C finds what the interface of an array would tell it."""

    paths: tuple[object, ...]
    current: object


@dataclass(frozen=True, slots=True)
class Package:
    """Attributes of another package's arrays that say what the interface does, in a part of the
    time. ``same``: what has to be as in an array seen before. ``stream``: the module and function
    that give the stream which it works in, and the path from there to a number."""

    address: _Path
    shape: _Path
    contiguous: _Path
    same: tuple[_Path, ...]
    device: _Path = ()  # the same, too, where there are several
    stream: tuple[str, str, _Path] | None = None

    def read(self, value: object, address: int) -> Read | None:
        """How to read arrays like this one; None if it has not got these attributes."""
        try:
            if followed(value, self.contiguous) is not True:
                return None
            paths = (
                self.contiguous,
                *self.same,
                *([self.device] if driver.has_multiple_devices() else ()),
            )
            same = [(path, followed(value, path)) for path in paths]
            module, function, path = self.stream or ("", "", ())
            current = getattr(sys.modules[module], function) if module else None
            numbers = [followed(value, self.address), followed(current, path) if module else 0]
        except (AttributeError, KeyError, TypeError):  # another version of the package
            return None
        if numbers[0] != address or any(type(number) is not int for number in numbers):
            return None
        return Read((self.address, self.shape, path, *chain.from_iterable(same)), current)


def followed(value: Any, path: _Path) -> Any:
    for step in path:
        value = value() if step is None else getattr(value, step)
    return value


PACKAGES = {
    "cupy.ndarray": Package(
        ("data", "ptr"),
        ("shape",),
        ("_c_contiguous",),
        (("dtype",),),
        ("device", "id"),
        ("cupy.cuda", "get_current_stream", (None, "ptr")),
    ),
    "torch.Tensor": Package(
        ("data_ptr", None),
        ("shape",),
        ("is_contiguous", None),
        (("dtype",), ("requires_grad",), ("get_device", None)),
        ("get_device", None),
    ),
}


# ---- numbers -------------------------------------------------------------------------------


def _of_number(value: object, to: DType, declared: DType, limit: int | None) -> Guard:
    """``to`` is what the kernel is passed, within the bounds of the ``declared`` type too."""
    kind = type(value)
    own = _RAW_CLASSES.get(kind)
    if limit is None and own is to:
        return Guard(_RAW, kind)
    source = _source_of(kind, own)
    if source is not None and to.is_integral and declared.is_integral:
        rows = (to, declared)
        least = max(-(limit or 1 << 63), *(row.minimum for row in rows))
        most = min(limit or (1 << 63) - 1, *(row.maximum for row in rows))
        return Guard(_WHOLE, kind, count=to.size, least=least, most=most, source=source)
    if source is not None and to in (dtypes.FLOAT32, dtypes.FLOAT64) and kind is not bool:
        into = _FLOAT_OF_WHOLE if to is dtypes.FLOAT32 else _DOUBLE_OF_WHOLE
        return Guard(into, kind, least=-_EXACT, most=_EXACT, source=source)
    if own is dtypes.FLOAT64 and to is dtypes.FLOAT32:
        return Guard(_FLOAT_OF_DOUBLE, kind, source=kind is not float)
    if own is dtypes.FLOAT32 and to is dtypes.FLOAT64:
        return Guard(_DOUBLE_OF_FLOAT, kind)
    raise NoPlan


def _source_of(kind: type, own: DType | None) -> int | None:
    """How C reads an integer: 0 for Python's; of numpy's the bytes, negative with a sign."""
    if kind in (int, bool):
        return 0
    if own is None or not own.is_integral:
        return None
    return -own.size if own.is_signed else own.size


# classes of numbers whose bytes follow the head of the object
_RAW_CLASSES: dict[type, DType] = {
    float: dtypes.FLOAT64,
    complex: dtypes.COMPLEX128,
    **{row.numpy.type: row for row in dtypes.DTYPES if row is not dtypes.BFLOAT16},
}
