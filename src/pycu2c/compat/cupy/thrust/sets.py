"""Merge sorted ranges as multisets.

The parameters ``it`` are first1, last1, first2, last2, result. Those of functions ``_by_key`` are
first1, last1, first2, last2, the values of both ranges, keys_result, values_result.
"""

from __future__ import annotations

from typing import Any

from pycu2c.kernels.kernel import device


@device
def _put(result: Any, place: Any, values: Any, k: Any) -> None:
    """Copy an element, unless there are no values."""
    if result is not None:
        result[0][result[1] + place] = values[0][values[1] + k]


@device
def _merge(
    ranges: tuple[Any, Any, Any, Any],
    values: tuple[Any, Any],
    results: tuple[Any, Any],
    takes: tuple[bool, bool, bool],
) -> Any:
    """Merge two ranges of keys, and return the ends of the results.

    takes: whether to copy keys that are only in the first range, in both, only in the second.
    """
    first1, last1, first2, last2 = ranges
    keys_result, values_result = results
    i, j, count = first1[1], first2[1], 0
    while i < last1[1] or j < last2[1]:
        side = 1  # 0: only in the first range, 1: in both, 2: only in the second
        if j == last2[1]:
            side = 0
        elif i == last1[1]:
            side = 2
        elif first1[0][i] < first2[0][j]:
            side = 0
        elif first2[0][j] < first1[0][i]:
            side = 2
        if side < 2 and takes[side]:
            keys_result[0][keys_result[1] + count] = first1[0][i]
            _put(values_result, count, values[0], i - first1[1])
            count += 1
        elif side == 2 and takes[2]:
            keys_result[0][keys_result[1] + count] = first2[0][j]
            _put(values_result, count, values[1], j - first2[1])
            count += 1
        i += 1 if side < 2 else 0
        j += 1 if side > 0 else 0
    if values_result is None:
        return keys_result[1] + count, 0
    return keys_result[1] + count, values_result[1] + count


@device
def set_difference(exec_policy: Any, *it: Any) -> Any:
    """Copy the elements that are only in the first range."""
    return _merge(it[:4], (None, None), (it[4], None), (True, False, False))[0]


@device
def set_difference_by_key(exec_policy: Any, *it: Any) -> Any:
    """Copy the keys that are only in the first range."""
    return _merge(it[:4], it[4:6], it[6:], (True, False, False))


@device
def set_intersection(exec_policy: Any, *it: Any) -> Any:
    """Copy the elements that are in both ranges."""
    return _merge(it[:4], (None, None), (it[4], None), (False, True, False))[0]


@device
def set_intersection_by_key(exec_policy: Any, *it: Any) -> Any:
    """Copy the keys that are in both ranges, with the values of the first range."""
    return _merge(it[:4], (it[4], it[4]), it[5:], (False, True, False))


@device
def set_symmetric_difference(exec_policy: Any, *it: Any) -> Any:
    """Copy the elements that are in one range only."""
    return _merge(it[:4], (None, None), (it[4], None), (True, False, True))[0]


@device
def set_symmetric_difference_by_key(exec_policy: Any, *it: Any) -> Any:
    """Copy the keys that are in one range only."""
    return _merge(it[:4], it[4:6], it[6:], (True, False, True))


@device
def set_union(exec_policy: Any, *it: Any) -> Any:
    """Copy the elements that are in any range."""
    return _merge(it[:4], (None, None), (it[4], None), (True, True, True))[0]


@device
def set_union_by_key(exec_policy: Any, *it: Any) -> Any:
    """Copy the keys that are in any range; those of both have the values of the first range."""
    return _merge(it[:4], it[4:6], it[6:], (True, True, True))
