"""Sort ranges."""

from __future__ import annotations

from typing import Any

from pycu2c.kernels.kernel import device


@device
def _sift_down(keys: Any, values: Any, root: Any, end: Any) -> None:
    """Move an element down a heap until no child is greater."""
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and keys[child] < keys[child + 1]:
            child += 1
        if not keys[root] < keys[child]:
            return
        keys[root], keys[child] = keys[child], keys[root]
        if values is not None:
            values[root], values[child] = values[child], values[root]
        root = child


@device
def _heap_sort(keys: Any, values: Any) -> None:
    for root in range(len(keys) // 2 - 1, -1, -1):
        _sift_down(keys, values, root, len(keys))
    for end in range(len(keys) - 1, 0, -1):
        keys[0], keys[end] = keys[end], keys[0]
        if values is not None:
            values[0], values[end] = values[end], values[0]
        _sift_down(keys, values, 0, end)


@device
def _insertion_sort(keys: Any, values: Any) -> None:
    for k in range(1, len(keys)):
        place = k
        while place > 0 and keys[place] < keys[place - 1]:
            keys[place], keys[place - 1] = keys[place - 1], keys[place]
            if values is not None:
                values[place], values[place - 1] = values[place - 1], values[place]
            place -= 1


@device
def sort(exec_policy: Any, first: Any, last: Any) -> None:
    """Sort a range in ascending order."""
    _heap_sort(first[0][first[1] : last[1]], None)


@device
def sort_by_key(exec_policy: Any, first: Any, last: Any, values_first: Any) -> None:
    """Sort keys in ascending order, and move their values with them."""
    _heap_sort(first[0][first[1] : last[1]], values_first[0][values_first[1] :])


@device
def stable_sort(exec_policy: Any, first: Any, last: Any) -> None:
    """Sort a range in ascending order; the time grows with the square of its length."""
    _insertion_sort(first[0][first[1] : last[1]], None)


@device
def stable_sort_by_key(exec_policy: Any, first: Any, last: Any, values_first: Any) -> None:
    """Sort keys, and keep the order of equal ones; the time grows with the square of the length."""
    _insertion_sort(first[0][first[1] : last[1]], values_first[0][values_first[1] :])
