"""Implement ``vectorize``: a ufunc from a scalar function, with NumPy's broadcasting."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar, Signature
from pycu2c.compat.numba.array_placement import (
    Backend,
    are_on_host,
    as_input,
    as_output,
    backend_of,
    finish_result,
    ordinal_for,
    to_device_array,
)
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.compat.numba.elementwise import map_elements
from pycu2c.compat.numba.reduce import Reduce
from pycu2c.declarations.signatures import is_signature, parse_signatures
from pycu2c.devices import view_geometry
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.copies import copy_if_overlapping
from pycu2c.frontend import function_builder
from pycu2c.kernels.kernel import DeviceFunction
from pycu2c.kernels.kernel_pickling import Pickled
from pycu2c.runtime.cuda.memory import HOST

_DTYPE_KINDS = "biufc"  # NumPy's kinds of dtypes; each can represent those before it


@dataclass(frozen=True, slots=True)
class UFuncLoop:
    """The device function for one signature."""

    inputs: tuple[np.dtype[Any], ...]
    output: np.dtype[Any]
    function: DeviceFunction[Any, Any]

    @property
    def types(self) -> str:
        """Return the types in NumPy's notation: ``ff->f``."""
        return f"{''.join(d.char for d in self.inputs)}->{self.output.char}"


class UFuncDispatcher(Pickled):
    """A ufunc: ``f(a, b, out=…)``. For device arrays, the result is a device array."""

    def __init__(
        self,
        function: Callable[..., Any],
        signatures: Sequence[Signature],
        backend: Backend,
        identity: object = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.identity = identity
        self._backend = backend
        self._device_function: DeviceFunction[..., Any] = DeviceFunction(function)
        # kernels may call it as a device function
        self.__pycu2c_device__ = self._device_function.__pycu2c_device__
        self.nin, self.nout = len(self.__pycu2c_device__.tree.args.args), 1
        self.nargs = self.nin + 1
        self._declared = bool(signatures)
        self._loops = {s.parameters: self._loop(s) for s in signatures}

    def __repr__(self) -> str:
        return f"<ufunc {self.__pycu2c_device__.name}>"

    @property
    def types(self) -> list[str]:
        """Return the compiled signatures in NumPy's notation."""
        return [loop.types for loop in self._loops.values()]

    @property
    def ntypes(self) -> int:
        return len(self._loops)

    def __call__(self, *args: Any, out: Any = None, stream: object = 0) -> Any:
        """Apply the function to arrays and scalars, broadcast to one shape.

        Returns
        -------
        array or scalar
            The result: on the host if all inputs are, else a device array.

        Raises
        ------
        TypeError
            If the number of arguments is wrong, no declared signature accepts their types, or the
            result cannot be cast to the type of ``out`` (``same_kind``).
        ValueError
            If ``out`` has another shape than the result.
        """
        if len(args) == self.nargs and out is None:
            args, out = args[:-1], args[-1]
        if len(args) != self.nin:
            raise TypeError(f"{self!r} takes {self.nin} arrays, not {len(args)}")
        args, target = tuple(map(as_input, args)), as_output(out)
        loop = self._loop_for(args)
        ordinal = ordinal_for(self._backend)
        inputs = [
            to_device_array(a if hasattr(a, "dtype") else np.asarray(a, dtype), ordinal, stream)
            for a, dtype in zip(args, loop.inputs)
        ]
        shape = np.broadcast_shapes(*(a.shape for a in inputs))
        on_host = are_on_host(args)
        if target is None and on_host and ordinal == HOST:
            target = np.empty(shape, loop.output)  # the CPU kernel writes a NumPy result directly
        result = self._output_array(target, shape, loop, ordinal, stream)
        broadcast_inputs = [
            a._view(view_geometry.broadcast(a.shape, a.strides, shape)) for a in inputs
        ]
        map_elements(
            loop.function,
            result,
            [copy_if_overlapping(a, result, stream) for a in broadcast_inputs],
            self._backend,
            stream,
        )
        returned = finish_result(result, target, stream, on_host=on_host)
        if out is not None:
            return out
        return returned if shape or isinstance(returned, DeviceArray) else returned[()]

    def _output_array(
        self, out: Any, shape: tuple[int, ...], loop: UFuncLoop, ordinal: int, stream: object
    ) -> DeviceArray:
        """Return the array that the kernel writes: ``out`` if it is on the kernel's device."""
        if out is None:
            return DeviceArray.empty(shape, loop.output, ordinal, stream=stream)
        if tuple(out.shape) != shape:
            raise ValueError(f"the result has the shape {shape}, and out has {tuple(out.shape)}")
        if not np.can_cast(loop.output, out.dtype, "same_kind"):
            raise TypeError(f"the result has the type {loop.output}, and out has {out.dtype}")
        if isinstance(out, np.ndarray) and ordinal >= 0:
            return DeviceArray.empty(shape, out.dtype, ordinal, stream=stream)
        return to_device_array(out, ordinal, stream)

    def reduce(self, arg: Any, n: int = 0, stream: object = 0) -> Any:
        """Reduce an array with one axis, or its first ``n`` elements.

        Returns
        -------
        scalar
            The reduced value.

        Raises
        ------
        TypeError
            If the function does not have two parameters.
        """
        if self.nin != 2:
            raise TypeError(f"{self!r} takes {self.nin} inputs: reduce needs a function of two")
        array = arg[:n] if n else arg
        start = self.identity if isinstance(self.identity, (int, float, complex)) else None
        return Reduce(self._device_function, self._backend)(array, init=start, stream=stream)

    # ---- types ----

    def _loop(self, signature: Signature) -> UFuncLoop:
        device: DeviceFunction[..., Any] = DeviceFunction(self.py_func, signature=[signature])
        inputs = tuple(_dtype(t) for t in signature.parameters)
        if len(inputs) != self.nin:
            raise TypeError(f"{self!r} takes {self.nin} inputs, but the signature is {signature}")
        _, result = function_builder.build_device(device.__pycu2c_device__, signature.parameters)
        return UFuncLoop(inputs, _dtype(signature.result or result), device)

    def _loop_for(self, args: Sequence[Any]) -> UFuncLoop:
        """Return the first loop with the argument types, else the first that can hold them."""
        if not self._declared:
            return self._infer_loop(args)
        loops = self._loops.values()
        for casting in ("no", "safe"):
            for loop in loops:
                if all(_can_convert(d, a, casting) for a, d in zip(args, loop.inputs)):
                    return loop
        types = ", ".join(str(getattr(a, "dtype", type(a).__name__)) for a in args)
        raise TypeError(
            f"{self!r} has the signatures {', '.join(self.types)}, and none for ({types}): declare "
            "it, too, or convert the arrays"
        )

    def _infer_loop(self, args: Sequence[Any]) -> UFuncLoop:
        """Return the loop for the dtypes of the arrays; scalars adapt to them (NEP 50)."""
        array_dtypes = [np.dtype(a.dtype) for a in args if hasattr(a, "dtype")]
        inputs = [
            np.dtype(a.dtype) if hasattr(a, "dtype") else np.result_type(*array_dtypes, a)
            for a in args
        ]
        parameters = tuple(Signature((_scalar_type(d),)).parameters[0] for d in inputs)
        if parameters not in self._loops:
            self._loops[parameters] = self._loop(Signature(parameters))
        return self._loops[parameters]


def _can_convert(dtype: np.dtype[Any], argument: Any, casting: Any) -> bool:
    if hasattr(argument, "dtype"):
        return bool(np.can_cast(argument.dtype, dtype, casting))
    kind = np.asarray(argument).dtype.kind
    return _DTYPE_KINDS.index(kind) <= _DTYPE_KINDS.index(dtype.kind) or (
        kind == "i" and dtype.kind == "u"
    )


def _dtype(parameter_type: object) -> np.dtype[Any]:
    if not isinstance(parameter_type, Scalar):
        raise TypeError(f"vectorize takes scalar types, not {parameter_type}")
    return parameter_type.numpy


def _scalar_type(dtype: np.dtype[Any]) -> Scalar:
    (parameter_type,) = parse_signatures((dtype,))[0].parameters
    assert isinstance(parameter_type, Scalar)
    return parameter_type


def vectorize(
    ftylist_or_function: Any = (), target: str = "cpu", identity: object = None, **options: Any
) -> Any:
    """Make a ufunc from a scalar function, as ``numba.vectorize``.

    Parameters
    ----------
    ftylist_or_function : callable, str or sequence, optional
        The function, or signatures such as ``["float32(float32, float32)"]``. A call uses the first
        signature that its arguments fit. Without signatures, each call selects the types.
    target : {"cpu", "parallel", "cuda"}, optional
        "cuda" is the default back end, the others are the CPU.
    identity : number, optional
        The initial value of reductions.
    **options : object
        Other options of numba, which are ignored.

    Returns
    -------
    callable
        The ufunc, or with signatures the decorator that returns it.

    Raises
    ------
    ValueError
        If the target is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import vectorize
    >>> @vectorize(["float32(float32, float32)"])
    ... def hypotenuse(a, b):
    ...     return (a * a + b * b) ** 0.5
    >>> hypotenuse(np.float32([3, 5]), np.float32([4, 12]))
    array([ 5., 13.], dtype=float32)
    """
    backend = backend_of(target)
    if callable(ftylist_or_function) and not is_signature(ftylist_or_function):
        return UFuncDispatcher(python_function(ftylist_or_function), (), backend, identity)
    types = ftylist_or_function
    signatures = parse_signatures(list(types) if isinstance(types, (list, tuple)) else [types])
    return lambda function: UFuncDispatcher(
        python_function(function), signatures, backend, identity
    )
