"""Compute sums and differences of ranges."""

from __future__ import annotations

from typing import Any

from pycu2c.kernels.kernel import device


@device
def adjacent_difference(exec_policy: Any, first: Any, last: Any, result: Any) -> Any:
    """Compute the differences of consecutive elements; the first element is copied."""
    a, out = first[0][first[1] : last[1]], result[0][result[1] :]
    for k in range(len(a) - 1, -1, -1):
        out[k] = a[k] - a[k - 1] if k > 0 else a[k]
    return result[1] + len(a)


@device
def reduce(exec_policy: Any, first: Any, last: Any, init: Any = 0) -> Any:
    """Compute the sum of ``init`` and the elements."""
    total = init
    for k in range(first[1], last[1]):
        total = total + first[0][k]
    return total


@device
def inner_product(exec_policy: Any, first: Any, last: Any, first2: Any, init: Any) -> Any:
    """Compute the sum of ``init`` and the products of two ranges."""
    a, b = first[0][first[1] : last[1]], first2[0][first2[1] :]
    total = init
    for k in range(len(a)):
        total = total + a[k] * b[k]
    return total


@device
def inclusive_scan_by_key(exec_policy: Any, first: Any, last: Any, first2: Any, result: Any) -> Any:
    """Compute sums that start again where the key changes, each with its element."""
    keys, values, out = first[0][first[1] : last[1]], first2[0][first2[1] :], result[0][result[1] :]
    for k in range(len(keys)):
        starts = k == 0 or keys[k] != keys[k - 1]
        out[k] = values[k] if starts else out[k - 1] + values[k]
    return result[1] + len(keys)


@device
def inclusive_scan(exec_policy: Any, first: Any, last: Any, result: Any) -> Any:
    """Compute the sums up to each element."""
    a, out = first[0][first[1] : last[1]], result[0][result[1] :]
    for k in range(len(a)):
        out[k] = a[k] if k == 0 else out[k - 1] + a[k]
    return result[1] + len(a)


@device
def exclusive_scan_by_key(
    exec_policy: Any, first: Any, last: Any, first2: Any, result: Any, init: Any = 0
) -> Any:
    """Compute sums that start again where the key changes, each without its element."""
    keys, values, out = first[0][first[1] : last[1]], first2[0][first2[1] :], result[0][result[1] :]
    total = init
    for k in range(len(keys)):
        if k > 0 and keys[k] != keys[k - 1]:
            total = init
        value = values[k]  # ``result`` may be the same range
        out[k] = total
        total = total + value
    return result[1] + len(keys)


@device
def exclusive_scan(exec_policy: Any, first: Any, last: Any, result: Any, init: Any = 0) -> Any:
    """Compute the sums of ``init`` and the elements before each element."""
    a, out = first[0][first[1] : last[1]], result[0][result[1] :]
    total = init
    for k in range(len(a)):
        value = a[k]
        out[k] = total
        total = total + value
    return result[1] + len(a)


@device
def reduce_by_key(
    exec_policy: Any, first: Any, last: Any, values_first: Any, keys_result: Any, values_result: Any
) -> Any:
    """Compute the sum of the values of equal consecutive keys."""
    keys, values = first[0][first[1] : last[1]], values_first[0][values_first[1] :]
    keys_out, out = keys_result[0][keys_result[1] :], values_result[0][values_result[1] :]
    groups = 0
    for k in range(len(keys)):
        if k > 0 and keys[k] == keys[k - 1]:
            out[groups - 1] += values[k]
        else:
            keys_out[groups] = keys[k]
            out[groups] = values[k]
            groups += 1
    return keys_result[1] + groups, values_result[1] + groups
