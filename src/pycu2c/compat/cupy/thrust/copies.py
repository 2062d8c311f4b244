"""Copy, fill, permute and filter ranges."""

from __future__ import annotations

from typing import Any

from pycu2c.kernels.kernel import device


@device
def copy(exec_policy: Any, first: Any, last: Any, result: Any) -> Any:
    """Copy a range."""
    a, out = first[0][first[1] : last[1]], result[0][result[1] :]
    for k in range(len(a)):
        out[k] = a[k]
    return result[1] + len(a)


@device
def fill(exec_policy: Any, first: Any, last: Any, value: Any) -> None:
    """Assign a value to all elements."""
    for k in range(first[1], last[1]):
        first[0][k] = value


@device
def sequence(exec_policy: Any, first: Any, last: Any, init: Any = 0, step: Any = 1) -> None:
    """Assign ``init``, ``init + step`` and so on."""
    a = first[0][first[1] : last[1]]
    for k in range(len(a)):
        a[k] = init + k * step


@device
def reverse(exec_policy: Any, first: Any, last: Any) -> None:
    """Reverse a range."""
    a = first[0][first[1] : last[1]]
    for k in range(len(a) // 2):
        a[k], a[len(a) - 1 - k] = a[len(a) - 1 - k], a[k]


@device
def reverse_copy(exec_policy: Any, first: Any, last: Any, result: Any) -> Any:
    """Copy a range in reverse order."""
    a, out = first[0][first[1] : last[1]], result[0][result[1] :]
    for k in range(len(a)):
        out[k] = a[len(a) - 1 - k]
    return result[1] + len(a)


@device
def swap_ranges(exec_policy: Any, first: Any, last: Any, result: Any) -> Any:
    """Exchange the elements of two ranges."""
    a, b = first[0][first[1] : last[1]], result[0][result[1] :]
    for k in range(len(a)):
        a[k], b[k] = b[k], a[k]
    return result[1] + len(a)


@device
def gather(exec_policy: Any, map_first: Any, map_last: Any, first: Any, result: Any) -> Any:
    """Copy the elements at the positions in a map."""
    places = map_first[0][map_first[1] : map_last[1]]
    a, out = first[0][first[1] :], result[0][result[1] :]
    for k in range(len(places)):
        out[k] = a[places[k]]
    return result[1] + len(places)


@device
def scatter(exec_policy: Any, first: Any, last: Any, map_first: Any, result: Any) -> None:
    """Copy elements to the positions in a map."""
    a, places, out = first[0][first[1] : last[1]], map_first[0][map_first[1] :], result[0]
    for k in range(len(a)):
        out[result[1] + places[k]] = a[k]


@device
def replace(exec_policy: Any, first: Any, last: Any, old_value: Any, new_value: Any) -> None:
    """Replace the elements that are equal to a value."""
    for k in range(first[1], last[1]):
        if first[0][k] == old_value:
            first[0][k] = new_value


@device
def replace_copy(
    exec_policy: Any, first: Any, last: Any, result: Any, old_value: Any, new_value: Any
) -> Any:
    """Copy a range, and replace the elements that are equal to a value."""
    end = copy(exec_policy, first, last, result)
    replace(exec_policy, result, (result[0], end), old_value, new_value)
    return end


@device
def remove_copy(exec_policy: Any, first: Any, last: Any, result: Any, value: Any) -> Any:
    """Copy the elements that differ from a value."""
    out, end = result
    for k in range(first[1], last[1]):
        if first[0][k] != value:
            out[end] = first[0][k]
            end += 1
    return end


@device
def remove(exec_policy: Any, first: Any, last: Any, value: Any) -> Any:
    """Remove the elements that are equal to a value."""
    return remove_copy(exec_policy, first, last, first, value)


@device
def unique_by_key(exec_policy: Any, first: Any, last: Any, values_first: Any) -> Any:
    """Keep the first of equal consecutive keys, and its value."""
    keys = first[0][first[1] : last[1]]
    count = 0
    for k in range(len(keys)):
        if k == 0 or keys[k] != keys[count - 1]:
            keys[count] = keys[k]
            if values_first is not None:
                values_first[0][values_first[1] + count] = values_first[0][values_first[1] + k]
            count += 1
    if values_first is None:
        return first[1] + count, 0
    return first[1] + count, values_first[1] + count


@device
def unique(exec_policy: Any, first: Any, last: Any) -> Any:
    """Keep the first of equal consecutive elements."""
    return unique_by_key(exec_policy, first, last, None)[0]
