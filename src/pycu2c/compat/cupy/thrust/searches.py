"""Search and compare ranges."""

from __future__ import annotations

from typing import Any

from pycu2c.kernels.kernel import device


@device
def count(exec_policy: Any, first: Any, last: Any, value: Any) -> Any:
    """Count the elements that are equal to a value."""
    total = 0
    for k in range(first[1], last[1]):
        if first[0][k] == value:
            total += 1
    return total


@device
def find(exec_policy: Any, first: Any, last: Any, value: Any) -> Any:
    """Find the first element that is equal to a value."""
    for k in range(first[1], last[1]):
        if first[0][k] == value:
            return k
    return last[1]


@device
def mismatch(exec_policy: Any, first: Any, last: Any, first2: Any) -> Any:
    """Find the first position at which two ranges differ."""
    a, b = first[0][first[1] : last[1]], first2[0][first2[1] :]
    k = 0
    while k < len(a) and a[k] == b[k]:
        k += 1
    return first[1] + k, first2[1] + k


@device
def equal(exec_policy: Any, first: Any, last: Any, first2: Any) -> Any:
    """Return whether two ranges are equal."""
    return mismatch(exec_policy, first, last, first2)[0] == last[1]


@device
def is_sorted_until(exec_policy: Any, first: Any, last: Any) -> Any:
    """Find the first element that is less than the one before it."""
    for k in range(first[1] + 1, last[1]):
        if first[0][k] < first[0][k - 1]:
            return k
    return last[1]


@device
def is_sorted(exec_policy: Any, first: Any, last: Any) -> Any:
    """Return whether a range is in ascending order."""
    return is_sorted_until(exec_policy, first, last) == last[1]


@device
def _bound(first: Any, last: Any, value: Any, after_equal: Any) -> Any:
    """Return the first index whose element is not less than a value, or is greater than it."""
    low, high = first[1], last[1]
    while low < high:
        middle = low + (high - low) // 2
        element = first[0][middle]
        if element < value or (after_equal and element == value):
            low = middle + 1
        else:
            high = middle
    return low


@device
def lower_bound(
    exec_policy: Any, first: Any, last: Any, value: Any, value_last: Any = None, result: Any = None
) -> Any:
    """Find the first position where a value, or each value of a range, can be inserted."""
    if value_last is None:
        return _bound(first, last, value, False)
    values, out = value[0][value[1] : value_last[1]], result[0][result[1] :]
    for k in range(len(values)):
        out[k] = _bound(first, last, values[k], False) - first[1]
    return result[1] + len(values)


@device
def upper_bound(
    exec_policy: Any, first: Any, last: Any, value: Any, value_last: Any = None, result: Any = None
) -> Any:
    """Find the last position where a value, or each value of a range, can be inserted."""
    if value_last is None:
        return _bound(first, last, value, True)
    values, out = value[0][value[1] : value_last[1]], result[0][result[1] :]
    for k in range(len(values)):
        out[k] = _bound(first, last, values[k], True) - first[1]
    return result[1] + len(values)


@device
def equal_range(exec_policy: Any, first: Any, last: Any, value: Any) -> Any:
    """Find the range of elements that are equal to a value."""
    return _bound(first, last, value, False), _bound(first, last, value, True)


@device
def binary_search(
    exec_policy: Any, first: Any, last: Any, value: Any, value_last: Any = None, result: Any = None
) -> Any:
    """Return whether a sorted range contains a value; with a range of values, store each result."""
    if value_last is None:
        return _bound(first, last, value, False) < _bound(first, last, value, True)
    values, out = value[0][value[1] : value_last[1]], result[0][result[1] :]
    for k in range(len(values)):
        low, high = equal_range(exec_policy, first, last, values[k])
        out[k] = low < high
    return result[1] + len(values)
