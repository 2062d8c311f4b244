"""The dispatch table of a kernel, and entries that are created from launches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from pycu2c.base.parameters import ArgumentPart
from pycu2c.base.records import dataclass
from pycu2c.base.types import Signature
from pycu2c.native.extension import DispatchTableBase, StagingBuffer
from pycu2c.runtime.arguments.arguments import Layout
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.dispatch.guards import (
    Guard,
    NotDispatchable,
    RecordedLaunch,
    guards_of,
    staged_leaves,
)
from pycu2c.runtime.launch_configuration import LAUNCH_HEADER, Extent
from pycu2c.runtime.runner import (
    ANY_BLOCK_COUNT,
    NO_AXIS,
    ExtentSource,
    FastPathLaunch,
    HiddenArguments,
)

FieldPart: TypeAlias = Literal["address", "extent", "stride", "value"]

_FIELD_PARTS: dict[ArgumentPart, FieldPart] = {
    ArgumentPart.DATA: "address",
    ArgumentPart.SHAPE: "extent",
    ArgumentPart.STRIDE: "stride",
    ArgumentPart.VALUE: "value",
}
_ANY_EXTENT, _NO_CLUSTER = (0, 0, 0), (1, 1, 1)


@dataclass(frozen=True, slots=True)
class OverlapGuard:
    """A written leaf must not overlap a leaf that is read.

    may_be_same: whether both may be the same array, because the kernel reads each element before it
        writes it.
    """

    read: tuple[int, ...] = ()
    written: tuple[int, ...] = ()
    may_be_same: bool = True


@dataclass(frozen=True, slots=True)
class LaunchGuard:
    """The launch configurations that an entry accepts, and the source of an inferred grid.

    grid, block: the required shapes; None accepts all.
    grid_sources: the arguments whose sizes determine the grid if the launch has none. The grid is
        rounded up to a multiple of the cluster.
    blocks: the range of the number of blocks; the end is exclusive.
    overlap: the leaves that must not overlap.
    """

    block: Extent | None
    shared_bytes: int
    grid_sources: tuple[ExtentSource, ...] = ()
    cluster: tuple[int, ...] = ()
    blocks: tuple[int, int] = ANY_BLOCK_COUNT
    overlap: OverlapGuard = OverlapGuard()
    grid: Extent | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter of the compiled kernel, and the leaf that determines its value.

    offset, size: the position in the packed arguments, and the number of bytes.
    axis: the axis of an extent or stride; for an address, the number of axes.
    """

    part: FieldPart
    leaf: int
    axis: int
    offset: int
    size: int
    itemsize: int  # of an element


@dataclass(frozen=True, slots=True)
class DispatchEntry:
    """An entry for launches that are like a recorded one.

    ``dispatch_entry.c`` reads the fields by name. Sets of leaves are bit masks. Addresses are ints,
    0 for none. A grid and a block of zeros accept all.

    initial: the bytes of the packed arguments, to which the fields are written.
    """

    arguments: int
    leaves: int
    guards: tuple[Guard, ...]
    fields: tuple[Field, ...]
    size: int
    initial: bytes | None
    grid: Extent
    block: Extent
    shared_bytes: int
    grid_sources: tuple[ExtentSource, ...]
    cluster: tuple[int, ...]
    min_blocks: int
    max_blocks: int
    read: int
    written: int
    may_be_same: bool
    staged: int
    staged_back: int
    start: int
    flags: int
    kernel: int
    get_context: int
    context: int
    staging: StagingBuffer | None
    signature: Signature
    finished: object
    keep_alive: object
    hidden: HiddenArguments


class DispatchTable(DispatchTableBase):
    """The dispatch table of a kernel.

    ``launch(configuration, arguments)`` returns whether an entry ran the launch. ``take_latest()``
    returns the signature of the entry that ran last, once.
    """

    __slots__ = ("_attempts", "_full", "_recorded")

    def __init__(self, parameters: CallSignature) -> None:
        defaults = dict(parameters.defaults)
        super().__init__(parameters.kernel, parameters.names, defaults, parameters.positional)
        self._recorded: set[tuple[object, ...]] = set()
        self._full, self._attempts = False, 0

    def should_record(self) -> bool:
        """Return whether to record a launch. After attempts that add no entry, only each 1st, 2nd,
        4th, 8th, … launch is recorded."""
        self._attempts += 1
        return not self._full and not self._attempts & (self._attempts - 1)

    def record(
        self,
        launch: RecordedLaunch,
        guard: LaunchGuard,
        fast_path: FastPathLaunch,
        signature: Signature,
    ) -> bool:
        """Add an entry for launches like this one; return whether that was possible."""
        try:
            entry = entry_of(launch, guard, fast_path, signature)
        except NotDispatchable:
            return False
        key = guard, signature, fast_path.context, *map(_identity_of, entry.guards), entry.fields
        if key in self._recorded:  # the launch missed its entry for another reason
            return False
        self._recorded.add(key)
        added = self.add(entry)
        self._full, self._attempts = not added, 0
        return added


def _identity_of(guard: Guard) -> tuple[object, ...]:
    """Return the fields of a guard; ids of objects, because C compares identities."""
    fields = [(name, getattr(guard, name)) for name in type(guard).__slots__]
    return tuple(_ids(value) if name in _COMPARED_BY_IDENTITY else value for name, value in fields)


def _ids(value: object) -> object:
    return tuple(map(id, value)) if isinstance(value, tuple) else id(value)


_COMPARED_BY_IDENTITY = ("type", "identity", "stream_source", "value")


def entry_of(
    launch: RecordedLaunch, guard: LaunchGuard, fast_path: FastPathLaunch, signature: Signature
) -> DispatchEntry:
    """Return the entry for launches that are like a recorded one. Raises NotDispatchable."""
    staged = staged_leaves(launch) if fast_path.context else []
    staging = fast_path.staging() if staged and fast_path.staging else None
    if staged and not staging:
        raise NotDispatchable
    guards = tuple(guards_of(launch, fast_path.layout, fast_path.context is not None))
    if any(
        axis == NO_AXIS and leaf not in launch.integer_ranges for leaf, axis in guard.grid_sources
    ):
        raise NotDispatchable  # only guards of integers keep the value
    start = 0 if fast_path.context else LAUNCH_HEADER.size
    size, (get_context, context) = fast_path.layout.struct.size, fast_path.context or (0, 0)
    return DispatchEntry(
        arguments=len(launch.values),
        leaves=len(launch.leaves),
        guards=guards,
        fields=tuple(_fields(fast_path.layout, launch.leaves, start)),
        size=start + size,
        initial=_initial(fast_path, start),
        grid=guard.grid or _ANY_EXTENT,
        block=guard.block or _ANY_EXTENT,
        shared_bytes=guard.shared_bytes,
        grid_sources=guard.grid_sources,
        cluster=guard.cluster or _NO_CLUSTER,
        min_blocks=guard.blocks[0],
        max_blocks=guard.blocks[1],
        read=_mask(guard.overlap.read),
        written=_mask(guard.overlap.written),
        may_be_same=guard.overlap.may_be_same,
        staged=_mask(staged),
        staged_back=_mask(leaf for leaf in staged if leaf in launch.written),
        start=fast_path.start,
        flags=fast_path.flags,
        kernel=fast_path.body,
        get_context=get_context,
        context=context,
        staging=staging,
        signature=signature,
        finished=fast_path.raise_for_code,
        keep_alive=fast_path,
        hidden=fast_path.hidden,
    )


def _initial(fast_path: FastPathLaunch, start: int) -> bytes | None:
    """Return the bytes of the arguments that no field writes; None if fields write all."""
    layout = fast_path.layout
    if fast_path.hidden.packed:
        return bytes(start) + fast_path.hidden.packed
    has_padding = sum(layout.sizes) != layout.struct.size
    return bytes(start + layout.struct.size) if has_padding else None


def _mask(leaves: Iterator[int] | Sequence[int]) -> int:
    return sum(1 << leaf for leaf in leaves)


def _fields(layout: Layout, leaves: Sequence[Argument], start: int) -> Iterator[Field]:
    for p, offset, size in zip(layout.parameters, layout.offsets, layout.sizes):
        if p.argument >= len(leaves):
            continue  # a hidden argument
        leaf = leaves[p.argument]
        itemsize, axis = 1, p.axis
        if isinstance(leaf, ArrayArgument):
            itemsize = leaf.dtype.size
            axis = len(leaf.shape) if p.part is ArgumentPart.DATA else p.axis
        yield Field(_FIELD_PARTS[p.part], p.argument, axis, start + offset, size, itemsize)
