"""Reduce an array to one value.

Blocks combine elements in grid-stride loops. A second launch of one block combines their results,
so the result does not depend on the order in which blocks run.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from pycu2c import cuda
from pycu2c.algorithms.checks import as_operation, as_tuple, typed_value
from pycu2c.algorithms.placement import CallPlacement, place_with_results
from pycu2c.algorithms.tiles import as_types_of, load_items, store_items
from pycu2c.cuda import block
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.warp import thread_rank
from pycu2c.kernels.kernel import Kernel, kernel

_THREADS = 256
_MAX_BLOCKS, _MAX_BLOCKS_ON_CPU = 8 * 264, 16
_UNROLL = 8


@functools.cache
def reduce_kernel(backend: Any, unroll: int) -> Kernel[Any]:
    """Return the kernel for a back end, which loads ``unroll`` elements at a time."""

    @kernel(backend=backend, launch_bounds=_THREADS, wraparound=False)
    def reduce_elements(out: Any, x: Any, op: Any, initial: Any) -> None:
        """Store the combined elements of each block."""

        def combine(a: Any, b: Any) -> Any:
            return as_types_of(out, op(a, b))

        n, i, step = len(x[0]), cuda.grid(1), cuda.gridsize(1)
        value = as_types_of(out, load_items(x, min(i, n - 1)))
        if unroll > 1:
            items = tuple(cuda.local.array(unroll, array.dtype) for array in out)
            while i + unroll * step < n:
                for k in range(unroll):
                    store_items(items, k, load_items(x, i + (k + 1) * step))
                for k in range(unroll):
                    value = combine(value, load_items(items, k))
                i += unroll * step
        for j in range(i + step, n, step):
            value = combine(value, as_types_of(out, load_items(x, j)))
        first = cuda.blockIdx.x * _THREADS
        value = block.reduce(value, combine, min(n - first, _THREADS))
        if thread_rank() == 0:
            store_items(out, cuda.blockIdx.x, value if initial is None else combine(initial, value))

    return reduce_elements


def reduce(
    a: Any,
    op: Callable[..., Any] = operator.add,
    initial: Any = None,
    out: Any = None,
    stream: object = None,
) -> Any:
    """Combine all elements of an array.

    Returns
    -------
    number, array or tuple
        ``out`` if it is given. Else a number for NumPy arrays, and a device array without axes for
        device arrays; a tuple of these for a tuple of arrays.

    Raises
    ------
    ValueError
        If the array is empty and there is no initial value, or the arrays do not fit each other.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import algorithms
    >>> int(algorithms.reduce(np.array([3, 1, 4]), max))
    4
    """
    where, x, results = place_with_results(a, out, stream, (1,))
    start = None if initial is None else typed_value(initial, results)
    n = x[0].shape[0]
    if not n:
        if start is None:
            raise ValueError("an empty array has no reduction without an initial value")
        for result, item in zip(results, as_tuple(start)):
            where.fill(result, item)
        return _result(where, a, out, results)
    function, unroll = as_operation(op), _UNROLL if where.is_gpu else 1
    blocks = min(-(-n // _THREADS), _MAX_BLOCKS if where.is_gpu else _MAX_BLOCKS_ON_CPU)
    launch = reduce_kernel(where.backend, unroll)
    if blocks > 1:
        partials = tuple(where.empty((blocks,), result.dtype) for result in results)
        launch[blocks, _THREADS, stream](partials, x, function, None)
        x = partials
    launch[1, _THREADS, stream](results, x, function, start)
    return _result(where, a, out, results)


def _result(where: CallPlacement, a: Any, out: Any, results: tuple[Any, ...]) -> Any:
    """Return ``out``, or numbers for NumPy arrays, or device arrays without axes."""
    if out is not None:
        return out
    found = tuple(r[0] if where.is_numpy else r.reshape(()) for r in results)
    return found if isinstance(a, tuple) else found[0]


document_parameters(
    globals(),
    """
a : array or tuple of array | An array of one axis, or several of the same length: then values are
  tuples of their elements.
op : callable | An associative and commutative function of two values: ``operator.add``, ``max``, or
  a Python function that kernels can call.
initial : number or tuple | A value that is combined with the elements.
out : array or tuple of array | An array of one element for the result; its dtype is the type of the
  values. By default a new array with the dtype of ``a``.
stream : Stream or int | The stream of the launches.
""",
)
