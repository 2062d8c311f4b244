"""``vectorize``: a function of numbers as one of arrays, broadcast as numpy's are."""

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
    backend_of,
    handed_over,
    ordinal_for,
    placed,
    room,
)
from pycu2c.compat.numba.dispatcher import python_of
from pycu2c.compat.numba.elementwise import map_elements
from pycu2c.compat.numba.reduce import Reduce
from pycu2c.declarations.signatures import is_signature, parse_signatures
from pycu2c.devices import view_geometry
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.copies import apart
from pycu2c.frontend import function_builder
from pycu2c.kernels.kernel import Device
from pycu2c.runtime.cuda.memory import HOST

_KINDS = "biufc"  # of numpy's numbers, each holding those before it


@dataclass(frozen=True, slots=True)
class Loop:
    """The function for one signature."""

    inputs: tuple[np.dtype[Any], ...]
    output: np.dtype[Any]
    function: Device[Any, Any]

    @property
    def types(self) -> str:
        """As numpy's ufuncs show it: ``ff->f``."""
        return f"{''.join(d.char for d in self.inputs)}->{self.output.char}"


class Vectorized:
    """A function of arrays: ``f(a, b, out=…)``. Arrays on a device give one there."""

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
        self._plain: Device[..., Any] = Device(function)
        self.__pycu2c_device__ = self._plain.__pycu2c_device__  # kernels may call it, too
        self.nin, self.nout = len(self.__pycu2c_device__.tree.args.args), 1
        self.nargs = self.nin + 1
        self._declared = bool(signatures)
        self._loops = {s.parameters: self._loop(s) for s in signatures}

    def __repr__(self) -> str:
        return f"<ufunc {self.__pycu2c_device__.name}>"

    @property
    def types(self) -> list[str]:
        """The signatures that it is compiled for, as numpy's ufuncs show them."""
        return [loop.types for loop in self._loops.values()]

    @property
    def ntypes(self) -> int:
        return len(self._loops)

    def __call__(self, *args: Any, out: Any = None, stream: object = 0) -> Any:
        """Apply it to arrays and numbers, broadcast to one shape; ``out`` takes the result."""
        if len(args) == self.nargs and out is None:
            *given, out = args
            args = tuple(given)
        if len(args) != self.nin:
            raise TypeError(f"{self!r} takes {self.nin} arrays, not {len(args)}")
        loop = self._loop_for(args)
        ordinal = ordinal_for(self._backend)
        inputs = [
            placed(a if hasattr(a, "dtype") else np.asarray(a, dtype), ordinal, stream)
            for a, dtype in zip(args, loop.inputs)
        ]
        shape = np.broadcast_shapes(*(a.shape for a in inputs))
        on_host = are_on_host(args)
        own = np.empty(shape, loop.output) if on_host and ordinal == HOST else None
        out = own if out is None else out  # an array of the host is given as it is made
        result = self._target(out, shape, loop, ordinal, stream)
        seen = [a._seen(view_geometry.broadcast(a.shape, a.strides, shape)) for a in inputs]
        map_elements(
            loop.function,
            result,
            [apart(a, result, stream) for a in seen],
            self._backend,
            stream,
        )
        found = handed_over(result, out, stream, on_host=on_host)
        return found[()] if own is not None and found is own and not shape else found

    def _target(
        self, out: Any, shape: tuple[int, ...], loop: Loop, ordinal: int, stream: object
    ) -> DeviceArray:
        """Where the result goes: into ``out``, if that is where the kernel runs."""
        if out is None:
            return room(shape, loop.output, ordinal, stream)
        if tuple(out.shape) != shape:
            raise ValueError(f"the result has the shape {shape}, and out has {tuple(out.shape)}")
        if isinstance(out, np.ndarray) and ordinal >= 0:
            return room(shape, out.dtype, ordinal, stream)
        return placed(out, ordinal, stream)

    def reduce(self, arg: Any, n: int = 0, stream: object = 0) -> Any:
        """The elements of an array with one axis, or the first ``n``, brought together by it."""
        if self.nin != 2:
            raise TypeError(f"{self!r} takes {self.nin} numbers: only one of two reduces")
        array = arg[:n] if n else arg
        start = self.identity if isinstance(self.identity, (int, float, complex)) else None
        return Reduce(self._plain, self._backend)(array, init=start, stream=stream)

    # ---- types ----

    def _loop(self, signature: Signature) -> Loop:
        device: Device[..., Any] = Device(self.py_func, signature=[signature])
        inputs = tuple(_dtype(kind) for kind in signature.parameters)
        if len(inputs) != self.nin:
            raise TypeError(f"{self!r} takes {self.nin} numbers, and {signature} is of others")
        _, result = function_builder.build_device(device.__pycu2c_device__, signature.parameters)
        return Loop(inputs, _dtype(signature.result or result), device)

    def _loop_for(self, args: Sequence[Any]) -> Loop:
        """The function for the types of a call: the first that they are the same as, or that holds
        them all."""
        if not self._declared:
            return self._loop_of(args)
        loops = self._loops.values()
        for casting in ("no", "safe"):
            for loop in loops:
                if all(_holds(d, a, casting) for a, d in zip(args, loop.inputs)):
                    return loop
        shown = ", ".join(str(getattr(a, "dtype", type(a).__name__)) for a in args)
        raise TypeError(
            f"{self!r} is for {', '.join(self.types)}, and not for ({shown}): declare that, too, "
            "or convert the arrays"
        )

    def _loop_of(self, args: Sequence[Any]) -> Loop:
        """The function for the types of arrays; a number takes theirs where it can."""
        strong = [np.dtype(a.dtype) for a in args if hasattr(a, "dtype")]
        inputs = [
            np.dtype(a.dtype) if hasattr(a, "dtype") else np.result_type(*strong, a) for a in args
        ]
        parameters = tuple(Signature((_scalar(d),)).parameters[0] for d in inputs)
        if parameters not in self._loops:
            self._loops[parameters] = self._loop(Signature(parameters))
        return self._loops[parameters]


def _holds(dtype: np.dtype[Any], given: Any, casting: Any) -> bool:
    if hasattr(given, "dtype"):
        return bool(np.can_cast(given.dtype, dtype, casting))
    kind = np.asarray(given).dtype.kind
    return _KINDS.index(kind) <= _KINDS.index(dtype.kind) or (kind == "i" and dtype.kind == "u")


def _dtype(kind: object) -> np.dtype[Any]:
    if not isinstance(kind, Scalar):
        raise TypeError(f"vectorize makes functions of numbers, and {kind} is none")
    return kind.numpy


def _scalar(dtype: np.dtype[Any]) -> Scalar:
    (kind,) = parse_signatures((dtype,))[0].parameters
    assert isinstance(kind, Scalar)
    return kind


def vectorize(
    ftylist_or_function: Any = (), target: str = "cpu", identity: object = None, **options: Any
) -> Any:
    """Make a function of arrays of one of numbers.

    ftylist_or_function: the function; or signatures, ``["float32(float32, float32)"]``, of which a
    call takes the first that its arguments fit. Without them, the types of each call count.
    target: "cuda", where kernels go; "cpu" or "parallel", the CPU.
    identity: what reductions begin with.
    Other options of numba's are read, and without effect.
    """
    backend = backend_of(target)
    if callable(ftylist_or_function) and not is_signature(ftylist_or_function):
        return Vectorized(python_of(ftylist_or_function), (), backend, identity)
    given = ftylist_or_function
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    signatures = parse_signatures(listed)
    return lambda function: Vectorized(python_of(function), signatures, backend, identity)
