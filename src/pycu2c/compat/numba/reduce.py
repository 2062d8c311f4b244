"""Implement ``cuda.reduce``: reduce an array with a binary function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.algorithms import reductions
from pycu2c.compat.numba.array_placement import (
    Backend,
    as_input,
    backend_of,
    ordinal_for,
    to_device_array,
)
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices.array import DeviceArray, as_device_array
from pycu2c.kernels.kernel import DeviceFunction


class Reduce:
    """A reduction of arrays: ``total = cuda.reduce(lambda a, b: a + b)``, then ``total(array)``.

    Parameters
    ----------
    functor : callable
        A function of two values, which is associative and commutative.
    backend : str, optional
        The back end of the kernels; by default that of ``kernel``.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import cuda
    >>> total = cuda.reduce(lambda a, b: a + b)
    >>> float(total(np.arange(1000.0)))
    499500.0
    """

    def __init__(self, functor: Callable[..., Any], backend: Backend | None = None) -> None:
        self._function: DeviceFunction[..., Any] = DeviceFunction(python_function(functor))
        self._backend = backend_of("cuda") if backend is None else backend

    def __call__(
        self,
        arr: Any,
        size: int | None = None,
        res: Any = None,
        init: Any = 0,
        stream: object = 0,
    ) -> Any:
        """Reduce an array with one axis.

        Returns
        -------
        scalar or None
            The reduced value.

        Raises
        ------
        TypeError
            If the array has more than one axis.
        ValueError
            If the array is empty and ``init`` is None.
        """
        arr = as_input(arr)
        if arr.ndim != 1:
            raise TypeError(f"reduce takes an array with one axis, not {arr.ndim}")
        array = to_device_array(
            arr if size is None else arr[:size], ordinal_for(self._backend), stream
        )
        total = DeviceArray.empty((1,), array.dtype, array.device, stream=stream)
        reductions.reduce(array, self._function, init, total, stream)
        if res is None:
            return total.getitem(0, stream)
        if isinstance(res, np.ndarray):
            res[:1] = total.copy_to_host(stream=stream)
        else:
            as_device_array(res).setitem(slice(1), total, stream)
        return None


reduce = Reduce


document_parameters(
    globals(),
    """
arr : array | The array, of one axis; any dtype of the operation.
size : int | The number of elements to reduce; by default all.
res : array | A device array whose first element receives the result.
init : number | The initial value.
stream : Stream or int | The stream.
""",
)
