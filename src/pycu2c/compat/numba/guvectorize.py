"""Implement ``guvectorize``: generalized ufuncs, which are called for each core subarray."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, ParameterType, Scalar, Signature
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
from pycu2c.compat.numba.elementwise import call_per_core_array
from pycu2c.declarations.signatures import SignatureError, parse_signatures
from pycu2c.devices import view_geometry
from pycu2c.devices.array import DeviceArray
from pycu2c.frontend import function_builder
from pycu2c.kernels.kernel import DeviceFunction
from pycu2c.kernels.kernel_pickling import Pickled
from pycu2c.runtime.arguments.strides import Shape

Axes = tuple[str, ...]  # the names of core dimensions


@dataclass(frozen=True, slots=True)
class CoreDimensions:
    """The core dimensions of each argument: ``(m,n),(n)->(m)``."""

    inputs: tuple[Axes, ...]
    outputs: tuple[Axes, ...]

    @property
    def arguments(self) -> tuple[Axes, ...]:
        return self.inputs + self.outputs


def parse_core_dimensions(text: str) -> CoreDimensions:
    """Parse a layout such as ``(m,n),(n)->(m)``. Raises SignatureError."""
    sides = text.replace(" ", "").split("->")
    core = r"\((?:\w+(?:,\w+)*)?\)"
    if len(sides) != 2 or not all(re.fullmatch(rf"(?:{core}(?:,{core})*)?", s) for s in sides):
        raise SignatureError(f"cannot read the layout {text!r}: write '(m,n),(n)->(m)'")
    inputs, outputs = (
        tuple(tuple(filter(None, axes[1:-1].split(","))) for axes in re.findall(core, side))
        for side in sides
    )
    unknown = {a for axes in outputs for a in axes} - {a for axes in inputs for a in axes}
    if unknown:
        raise SignatureError(f"no input of the layout {text!r} has the axis {min(unknown)}")
    return CoreDimensions(inputs, outputs)


class GUFuncDispatcher(Pickled):
    """A generalized ufunc. The function writes its outputs to its last parameters.

    The last axes of each argument are its core dimensions; the others are broadcast.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signatures: Sequence[Signature],
        layout: CoreDimensions,
        backend: Backend,
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._layout, self._backend, self._declared = layout, backend, tuple(signatures)
        self._device: DeviceFunction[..., Any] = DeviceFunction(function)
        self.nin, self.nout = len(layout.inputs), len(layout.outputs)
        for signature in signatures:
            if len(signature.parameters) != self.nin + self.nout:
                raise SignatureError(
                    f"{self!r} has {self.nin} inputs and {self.nout} outputs, which the signature "
                    f"{signature} does not match"
                )
            function_builder.build_device(self._device.__pycu2c_device__, signature.parameters)

    def __repr__(self) -> str:
        return f"<gufunc {self._device.__pycu2c_device__.name}>"

    @property
    def types(self) -> list[str]:
        """Return the declared signatures in NumPy's notation."""
        codes = [
            [_dtype(parameter_type).char for parameter_type in s.parameters] for s in self._declared
        ]
        return [f"{''.join(s[: self.nin])}->{''.join(s[self.nin :])}" for s in codes]

    def __call__(self, *args: Any, out: Any = None, stream: object = 0) -> Any:
        """Call the function for each core subarray.

        Returns
        -------
        array or tuple
            The outputs.

        Raises
        ------
        TypeError
            If the number or the types of the arguments do not match.
        ValueError
            If the shapes do not match.
        """
        arrays, outputs = args[: self.nin], self._outputs(args[self.nin :], out)
        if len(arrays) != self.nin:
            raise TypeError(f"{self!r} takes {self.nin} arrays, not {len(arrays)}")
        arrays, targets = tuple(map(as_input, arrays)), list(map(as_output, outputs))
        types = self._types_for(arrays, targets)
        ordinal = ordinal_for(self._backend)
        inputs = [
            _convert(to_device_array(a, ordinal, stream), parameter_type)
            for a, parameter_type in zip(arrays, types)
        ]
        loop_shape, sizes = self._loop_shape(inputs)
        results = [
            self._output_array(
                loop_shape + tuple(sizes[a] for a in axes), parameter_type, array, (ordinal, stream)
            )
            for axes, parameter_type, array in zip(self._layout.outputs, types[self.nin :], targets)
        ]
        core_arrays = [
            self._core_arrays(k, array, loop_shape, sizes, types)
            for k, array in enumerate([*inputs, *results])
        ]
        call_per_core_array(self._device, math.prod(loop_shape), core_arrays, self._backend, stream)
        on_host = are_on_host(arrays)
        finished = [
            finish_result(result, target, stream, on_host=on_host)
            for result, target in zip(results, targets)
        ]
        returned = [new if out is None else out for new, out in zip(finished, outputs)]
        return returned[0] if len(returned) == 1 else tuple(returned)

    def _outputs(self, positional_outputs: tuple[Any, ...], out: Any) -> list[Any]:
        """Return the outputs that were passed by position or by name, and None for the others."""
        keyword_outputs = out if isinstance(out, tuple) else (out,) if out is not None else ()
        outputs = [*positional_outputs, *keyword_outputs]
        if len(outputs) > self.nout:
            raise TypeError(f"{self!r} has {self.nout} outputs, and {len(outputs)} were passed")
        return outputs + [None] * (self.nout - len(outputs))

    # ---- types ----

    def _types_for(self, arrays: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
        """Return the type of each parameter; None means the dtype of the argument."""
        if not self._declared:
            if any(array is None for array in outputs):
                raise TypeError(f"{self!r} has no signature: pass the arrays that it writes to")
            return (None,) * (self.nin + self.nout)
        dtypes = [a.dtype if hasattr(a, "dtype") else np.asarray(a).dtype for a in arrays]
        for casting in ("no", "safe", "same_kind"):
            for signature in self._declared:
                declared = map(_dtype, signature.parameters)
                if all(np.can_cast(a, d, casting) for a, d in zip(dtypes, declared)):
                    return signature.parameters
        raise TypeError(
            f"{self!r} has the signatures {', '.join(self.types)}, and none for "
            f"({', '.join(map(str, dtypes))}): declare it, too, or convert the arrays"
        )

    # ---- shapes ----

    def _loop_shape(self, inputs: Sequence[DeviceArray]) -> tuple[Shape, dict[str, int]]:
        """Return the broadcast shape of the loop axes, and the sizes of the core dimensions."""
        sizes: dict[str, int] = {}
        loop_shapes: list[Shape] = []
        for number, (array, axes) in enumerate(zip(inputs, self._layout.inputs), start=1):
            if array.ndim < len(axes):
                raise ValueError(
                    f"argument {number} of {self!r} has {array.ndim} axes, and needs at least "
                    f"{len(axes)}"
                )
            outer = array.ndim - len(axes)
            loop_shapes.append(array.shape[:outer])
            for name, extent in zip(axes, array.shape[outer:]):
                if sizes.setdefault(name, extent) != extent:
                    raise ValueError(
                        f"the axis {name} of {self!r} has the lengths {sizes[name]} and {extent}"
                    )
        return np.broadcast_shapes(*loop_shapes), sizes

    def _output_array(
        self,
        shape: Shape,
        parameter_type: ParameterType | None,
        out: Any,
        placement: tuple[int, object],
    ) -> DeviceArray:
        """Return the array that the kernel writes.

        That is ``out`` if it is C-contiguous, writable and has the dtype, else a new array.
        placement: the device ordinal and the stream of new arrays.
        """
        ordinal, stream = placement
        if out is None:
            assert parameter_type is not None, "without a signature, outputs must be passed"
            return DeviceArray.empty(shape, _dtype(parameter_type), ordinal, stream=stream)
        outer = len(shape) - len(out.shape)
        if tuple(out.shape) != shape[max(outer, 0) :] or any(n != 1 for n in shape[:outer]):
            raise ValueError(
                f"an output of {self!r} has the shape {shape}, and out has {tuple(out.shape)}"
            )
        array = to_device_array(out, ordinal, stream)
        array = array._view(view_geometry.broadcast(array.shape, array.strides, shape))
        dtype = array.dtype if parameter_type is None else _dtype(parameter_type)
        if array.dtype == dtype and array.is_c_contiguous() and array.writeable:
            return array
        return DeviceArray.empty(shape, dtype, ordinal, stream=stream)

    def _core_arrays(
        self,
        number: int,
        array: DeviceArray,
        loop_shape: Shape,
        sizes: Mapping[str, int],
        types: Sequence[ParameterType | None],
    ) -> DeviceArray:
        """Reshape an array to one loop axis, followed by its core dimensions.

        Without core dimensions, an input is a scalar and an output an array of one element.
        """
        core = tuple(sizes[name] for name in self._layout.arguments[number])
        view = array._view(view_geometry.broadcast(array.shape, array.strides, loop_shape + core))
        if not core and (number >= self.nin or isinstance(types[number], Array)):
            core = (1,)
        return view.reshape((math.prod(loop_shape), *core))


def _convert(array: DeviceArray, parameter_type: ParameterType | None) -> DeviceArray:
    return array if parameter_type is None else array.astype(_dtype(parameter_type), copy=False)


def _dtype(parameter_type: ParameterType) -> np.dtype[Any]:
    """Return the dtype of a scalar or of an array's elements."""
    if not isinstance(parameter_type, (Scalar, Array)):
        raise SignatureError(f"guvectorize takes array and scalar types, not {parameter_type}")
    return parameter_type.dtype.numpy


def guvectorize(
    ftylist: Any, signature: str | None = None, target: str = "cpu", **options: Any
) -> Any:
    """Make a generalized ufunc from a function of small arrays, which writes its outputs.

    Parameters
    ----------
    ftylist : str, type or sequence
        Signatures such as ``["void(float32[:], float32, float32[:])"]``. A call uses the first that
        its arguments fit. It may be omitted; calls then pass their outputs.
    signature : str, optional
        The core dimensions: ``"(n),()->(n)"``.
    target : {"cpu", "parallel", "cuda"}, optional
        "cuda" is the default back end, the others are the CPU.
    **options : object
        Other options of numba, which are ignored.

    Returns
    -------
    callable
        A decorator, which returns the generalized ufunc.

    Raises
    ------
    SignatureError
        If the core dimensions are malformed or do not match a signature.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import guvectorize
    >>> @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    ... def running_sum(x, out):
    ...     total = 0.0
    ...     for i in range(len(x)):
    ...         total += x[i]
    ...         out[i] = total
    >>> running_sum(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 3.],
           [3., 7.]])
    """
    if signature is None:
        ftylist, signature = [], ftylist
    layout, backend = parse_core_dimensions(signature), backend_of(target)
    declarations = list(ftylist) if isinstance(ftylist, (list, tuple)) else [ftylist]
    signatures = parse_signatures(declarations)
    return lambda function: GUFuncDispatcher(python_function(function), signatures, layout, backend)
