"""Decode the array of findings that an instrumented kernel has filled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.checks.check_sites import CheckSite
from pycu2c.checks.device_functions import shadow_words
from pycu2c.checks.device_functions.recording import (
    BLOCK,
    COUNT,
    FOUND,
    LIMIT,
    MAX_VALUES,
    THREAD,
    VALUES,
)
from pycu2c.checks.device_functions.shadow_words import MAX_BLOCKS, MAX_SITE
from pycu2c.runtime.findings import Coordinates, Finding

FindingRows = npt.NDArray[np.int64]
Extent = tuple[int, int, int]
_WARP_SIZE = 32


def new_rows(site_count: int, wait_limit: float = 0.0) -> FindingRows:
    """Return the rows of a launch without findings, and one for its state.

    wait_limit: how many seconds a thread may wait for others on a GPU.
    """
    rows = np.zeros((site_count + 1, VALUES + MAX_VALUES), np.int64)
    rows[-1, LIMIT] = int(wait_limit * 1e9)
    return rows


def is_clear(rows: FindingRows) -> bool:
    """Return whether a launch has no findings, so that its rows can be used again."""
    return not rows[-1, FOUND]


def found_offset(rows: FindingRows) -> int:
    """Return the offset of the number that is not 0 if there are findings, in bytes."""
    return rows.nbytes - rows.strides[0] + FOUND * rows.itemsize


def decode(
    rows: FindingRows, sites: Sequence[CheckSite], grid: Extent, block: Extent
) -> list[Finding]:
    """Return the findings in the order of the source, one for each place and kind."""
    found: dict[object, Finding] = {}
    if is_clear(rows):
        return []
    for row, site in zip(rows, sites):
        if row[COUNT]:
            finding = _finding(row, site, sites, grid, block)
            found.setdefault(_mistake(finding), finding)
    return sorted(found.values(), key=lambda f: (f.file, f.line, f.column))


def _mistake(finding: Finding) -> object:
    """Return what findings of one mistake share: ``a[i] += 1`` reads and writes."""
    place = finding.kind, finding.file, finding.calls
    if finding.kind == "race":
        return *place, frozenset((finding.line, finding.other_line)), finding.array
    return *place, finding.line, finding.message


def _finding(
    row: npt.NDArray[np.int64],
    site: CheckSite,
    sites: Sequence[CheckSite],
    grid: Extent,
    block: Extent,
) -> Finding:
    values = dict(zip(site.values, map(int, row[VALUES:])))
    message, hint = _explanation(site, values)
    finding = Finding(
        site.kind,
        site.span,
        message,
        hint,
        int(row[COUNT]),
        _coordinates(int(row[THREAD]), block),
        _coordinates(int(row[BLOCK]), grid),
        site.subject,
        tuple(_numbered(values, "index")),
        tuple(_numbered(values, "length")),
        site.calls,
    )
    if "other" not in values:
        return finding
    number, thread, of_block = _decode_word(values["other"])
    other = sites[number - 1] if 0 < number < MAX_SITE else None
    place = _coordinates(thread, block), _coordinates(of_block, grid)
    if site.kind == "divergent-barrier" and other is None:
        where = f"thread {tuple(place[0])} of block {tuple(place[1])}"
        finding = replace(finding, message=f"{message}, and {where} does not reach it")
    # several threads read the element, and the last of them is the one that writes it
    is_itself = (thread, of_block) == (row[THREAD], row[BLOCK] % MAX_BLOCKS)
    if site.kind == "race":
        other_span = other.span if other else None
        hint = _race_hint(site.span, other_span, row, (thread, of_block))
    return replace(
        finding,
        other_span=other.span if other else None,
        other_access=other.access if other else "",
        other_thread=None if is_itself else place[0],
        other_block=None if is_itself else place[1],
        hint=hint,
    )


def _decode_word(word: int) -> tuple[int, int, int]:
    """Return the number of the site, the thread and the block of a shadow word."""
    thread = word >> shadow_words.THREAD & shadow_words.MAX_THREAD
    return word & MAX_SITE, thread, word >> shadow_words.BLOCK & MAX_BLOCKS - 1


def _numbered(values: dict[str, int], name: str) -> Iterator[int]:
    return (value for key, value in values.items() if key.startswith(name))


def _coordinates(linear: int, extent: Extent) -> Coordinates:
    x, y, _ = extent
    return Coordinates(linear % x, linear // x % y, linear // (x * y))


def _explanation(site: CheckSite, values: dict[str, int]) -> tuple[str, str]:
    """Return the message and the hint of a finding."""
    name = f"`{site.subject}`" if site.subject else "the view"
    match site.kind:
        case "out-of-bounds":
            axes = [key.removeprefix("index") for key in values if key.startswith("index")]
            pairs = {axis: (values[f"index{axis}"], values[f"length{axis}"]) for axis in axes}
            bad = [axis for axis, (i, n) in pairs.items() if not -n <= i < n]
            axis = (bad or axes)[0]
            index, length = pairs[axis]
            text = f"index {index} is out of bounds for axis {axis} of {name} with size {length}"
            hint = f"compare the index with {_length_text(site, axes, axis)} before the access"
            return text, hint
        case "race":
            return f"`{_element(site, values)}` is {site.access} here", ""  # see _race_hint
        case "divergent-barrier":
            hint = "move the barrier out of the branch or loop that only some threads execute"
            return "the thread waits here", hint
        case "deadlock":
            text = "the thread waits in this loop for a change that does not happen"
            return text, "let another thread that runs at the same time end the loop"
        case "warp-sync":
            return _warp_explanation(values)
        case "uninitialized":
            return _uninitialized_explanation(site, values)
        case _:
            return _arithmetic_explanation(site, values)


def _warp_explanation(values: dict[str, int]) -> tuple[str, str]:
    mask = values["mask"] & 0xFFFFFFFF
    if "lane" in values and mask >> values["lane"] & 1:
        text = f"lanes of the mask {mask:#010x} do not reach the operation, or have another mask"
        return text, "let all lanes of the mask reach the operation, with this mask"
    if "lane" in values:
        text = f"lane {values['lane']} is not in the mask {mask:#010x}"
        return text, "pass a mask with the bit of each lane that executes the operation"
    if "absent" in values:
        text = f"lane {values['absent']} of the mask {mask:#010x} skips this operation"
        return text, "move the operation out of the branch or loop, or name only lanes in it"
    source, hint = values["source"], "a shuffle reads from lanes of its mask that the block has"
    if mask >> source & 1:
        return f"the shuffle reads from lane {source}, which does not exist or has exited", hint
    return f"the shuffle reads from lane {source}, which is not in the mask {mask:#010x}", hint


def _uninitialized_explanation(site: CheckSite, values: dict[str, int]) -> tuple[str, str]:
    if not values:
        name = site.subject
        return f"`{name}` is read before it is assigned", f"give {name} a value on every path"
    text = f"`{_element(site, values)}` is read before it is written"
    return text, f"write each element of {site.subject} before it is read"


def _element(site: CheckSite, values: dict[str, int]) -> str:
    """Return the Python text of the element or field that is accessed."""
    index = ", ".join(map(str, _numbered(values, "index")))
    return f"{site.subject}[{index or '()'}]{site.field}"


def _length_text(site: CheckSite, axes: Sequence[str], axis: str) -> str:
    """Return how a program writes the length of an axis."""
    if not site.subject:
        return "the length of the axis"
    return f"{site.subject}.shape[{axis}]" if len(axes) > 1 else f"len({site.subject})"


def _race_hint(
    span: Span, other: Span | None, row: npt.NDArray[np.int64], by: tuple[int, int]
) -> str:
    """Return how to order the two accesses of a race; ``by`` is the other thread and its block."""
    thread, block = by
    if row[BLOCK] % MAX_BLOCKS != block:
        return "use cuda.atomic, a barrier of the cluster or the grid, or a later launch"
    is_in_warp = row[THREAD] // _WARP_SIZE == thread // _WARP_SIZE
    barrier = "cuda.syncwarp() or cuda.syncthreads()" if is_in_warp else "cuda.syncthreads()"
    if other is None or span.line != other.line:
        return f"put {barrier} between the accesses, or use cuda.atomic for both"
    if span.column == other.column:  # ``a[0] += 1``
        return "use cuda.atomic, or let only one thread access the element"
    # ``a[i] = a[i - 1]``
    return f"put {barrier} between read and write, write to another array, or use cuda.atomic"


def _arithmetic_explanation(site: CheckSite, values: dict[str, int]) -> tuple[str, str]:
    if site.access == "convert":
        number = values.get("value", "an integral number")
        if "unsigned" in values:
            number = values["unsigned"] % 2**64
        hint = "limit the value before the conversion, or use a type that represents it instead of "
        return f"`{site.subject}` does not represent {number}", hint + site.subject
    if site.access:
        operands = f"{values['left']} {site.access} {values['right']}" if values else "the result"
        hint = "convert an operand to a wider type, or limit the operands"
        return f"`{site.access}` wraps: {operands} does not fit `{site.subject}`", hint
    match site.subject:
        case "//" | "%":
            text = f"`{site.subject}` by 0"
            return text, "test that the divisor is not 0 before the operation"
        case "<<" | ">>":
            text = f"`{site.subject}` by {values['operand']}, which is not within the type"
            return text, "shift by at least 0 and by less than the bits of the type"
        case "**":
            return f"an integer to the power {values['operand']}", "convert the base: float(base)"
        case _:
            text = f"a float that `{site.subject}` does not represent"
            return text, "limit the value before, as in min(max(x, low), high), and test for NaN"
