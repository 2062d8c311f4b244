"""Prefix sums of an array, with any associative operation, in one pass.

A block scans a tile, and receives the combined values of the preceding tiles by
look-back (``look_back``). Each element is loaded once and stored once.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from pycu2c import cuda
from pycu2c.algorithms.checks import as_operation, typed_value
from pycu2c.algorithms.look_back import prefix_of_tile
from pycu2c.algorithms.placement import place_with_results
from pycu2c.algorithms.tiles import as_types_of, load_items, load_tile, store_items, store_tile
from pycu2c.algorithms.words import words_per_value
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.block.scan import scan_threads
from pycu2c.kernels.kernel import Kernel, kernel

_ON_GPU = 128, 31  # threads of a block, and items of 4 bytes of a thread


@functools.cache
def scan_kernel(
    backend: Any, threads: int, items_per_thread: int, *, exclusive: bool
) -> Kernel[Any]:
    """Return the kernel for a back end and a shape of tiles."""
    tile_size = threads * items_per_thread

    @kernel(backend=backend, launch_bounds=threads, wraparound=False)
    def scan_tiles(out: Any, x: Any, states: Any, op: Any, initial: Any) -> None:
        """Scan a tile, and combine it with the prefix of the preceding tiles."""

        def combine(a: Any, b: Any) -> Any:
            return as_types_of(out, op(a, b))

        rank, tile = cuda.threadIdx.x, cuda.blockIdx.x
        start = tile * tile_size
        items = tuple(cuda.local.array(items_per_thread, array.dtype) for array in out)
        load_tile(items, x, threads, start)
        sum_of_items = load_items(items, 0)
        for i in range(1, items_per_thread):
            sum_of_items = combine(sum_of_items, load_items(items, i))
            store_items(items, i, sum_of_items)
        before, total = scan_threads(sum_of_items, combine)
        prefix = prefix_of_tile(states, tile, total, combine)
        is_first = tile == 0 and rank == 0
        if tile > 0:
            before = combine(prefix, before) if rank > 0 else prefix
        if initial is not None:
            before = initial if is_first else combine(initial, before)
        if exclusive:
            for i in range(items_per_thread - 1, 0, -1):
                store_items(items, i, combine(before, load_items(items, i - 1)))
            store_items(items, 0, before)
        elif initial is not None or not is_first:
            for i in range(items_per_thread):
                store_items(items, i, combine(before, load_items(items, i)))
        store_tile(out, items, threads, start)

    return scan_tiles


def inclusive_scan(
    a: Any,
    op: Callable[..., Any] = operator.add,
    initial: Any = None,
    out: Any = None,
    stream: object = None,
) -> Any:
    """Combine each element with all elements before it: ``out[i] = a[0] + … + a[i]``.

    Returns
    -------
    array or tuple of array
        The prefixes, ``out`` if it is given.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> algorithms.inclusive_scan(np.array([3, 1, 4]))
    array([3, 4, 8])
    """
    return _scan(a, op, initial, out, stream, exclusive=False)


def exclusive_scan(
    a: Any,
    op: Callable[..., Any] = operator.add,
    initial: Any = 0,
    out: Any = None,
    stream: object = None,
) -> Any:
    """Combine all elements before each element: ``out[i] = initial + a[0] + … + a[i - 1]``.

    Returns
    -------
    array or tuple of array
        The prefixes, ``out`` if it is given.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> algorithms.exclusive_scan(np.array([3, 1, 4]))
    array([0, 3, 4])
    """
    return _scan(a, op, initial, out, stream, exclusive=True)


def _scan(
    a: Any, op: Callable[..., Any], initial: Any, out: Any, stream: object, *, exclusive: bool
) -> Any:
    where, x, results = place_with_results(a, out, stream)
    start = None if initial is None else typed_value(initial, results)
    size = x[0].shape[0]
    if size:
        threads, items = where.tile_shape(_ON_GPU, sum(r.dtype.itemsize for r in results))
        tiles = -(-size // (threads * items))
        states = where.zeros((tiles, words_per_value(results)), "u8")
        launch = scan_kernel(where.backend, threads, items, exclusive=exclusive)
        launch[tiles, threads, stream](results, x, states, as_operation(op), start)
    found = results if isinstance(a, tuple) else results[0]
    return found if out is None else out


document_parameters(
    globals(),
    """
a : array or tuple of array | An array of one axis, or several of the same length: then values are
  tuples of their elements.
op : callable | An associative function of two values: ``operator.add``, ``max``, or a Python
  function that kernels can call.
initial : number or tuple | A value before the first element.
out : array or tuple of array | The array for the prefixes, which may be ``a``; its dtype is that of
  the values. By default a new array with the dtype of ``a``.
stream : Stream or int | The stream of the launches.
""",
)
