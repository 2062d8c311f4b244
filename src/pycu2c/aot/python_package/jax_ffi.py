"""Call the kernels of a library in JAX programs, through handlers of XLA's FFI.

You may use, change and distribute this file freely, for any purpose and without conditions.
"""

from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# the kind of each parameter: "r" for an array that is only read, "w" for an array that is a result
# only, "u" for an array that is an argument and a result, "D", "d", "q", "Q" and "?" for a complex
# number, a double, an int64, a uint64 and a bool
Kinds = Mapping[str, str]
FindTarget = Callable[[Mapping[str, Any]], tuple[str, Kinds]]
_NUMBERS: Mapping[str, Callable[[Any], Any]] = {
    "D": lambda value: np.array([complex(value)]).view(np.float64),  # the parts
    "d": lambda value: np.float64(float(value)),
    "q": lambda value: np.int64(operator.index(value)),
    "Q": lambda value: np.uint64(operator.index(value)).astype(np.int64),
    "?": lambda value: np.int64(bool(value)),
}


class HandlerLibrary:
    """A shared library with handlers: beside this file, or in ``lib`` of the build."""

    def __init__(self, name: str) -> None:
        folder = os.path.dirname(os.path.abspath(__file__))
        folders = folder, os.path.join(folder, "..", "..", "lib")
        paths = [os.path.join(each, f"lib{name}_xla.so") for each in folders]
        self._name = name
        self._handlers = ctypes.CDLL(next(filter(os.path.exists, paths), paths[0]))

    def kernel(self, launch: Any) -> Callable[..., Any]:
        """Return the function that calls a kernel, given that of the package which launches it."""
        name = launch.kernel_name
        target, kinds = f"{self._name}.{name}", dict(launch.parameters)
        write_only = [n for n, kind in kinds.items() if kind == "w"]
        register(self._handlers, name, target)

        def kernel(*arguments: Any, out_shapes: Any = None, **options: Any) -> Any:
            used = with_results(name, kinds, result_names(out_shapes, write_only))
            named = {n: options.pop(n) for n in kinds if n in options}
            options["out_shapes"] = out_shapes
            results = [n for n, kind in used.items() if kind == "w"]
            call = FfiFunction(name, [*used], results, lambda _: (target, used), **options)
            return call(*arguments, **named)

        kernel.__doc__, kernel.__module__ = launch.__doc__, f"{launch.__module__}.jax"
        kernel.__name__ = kernel.__qualname__ = launch.__name__
        return kernel


def result_names(out_shapes: Any, write_only: Sequence[str]) -> Sequence[str]:
    """Return the names of the results that are not arguments."""
    return list(out_shapes) if isinstance(out_shapes, Mapping) else write_only


def with_results(kernel: str, kinds: Kinds, results: Sequence[str]) -> Kinds:
    """Return the kinds of parameters if certain arrays are results only. Raises TypeError."""
    written = [name for name, kind in kinds.items() if kind in "wu"]
    for name in results:
        if name not in written:
            raise TypeError(f"out_shapes has {name}, and {kernel} writes no such array")
    return {**kinds, **{name: "w" if name in results else "u" for name in written}}


def register(handlers: ctypes.CDLL, kernel: str, target: str) -> None:
    """Register the handlers of a kernel under a name."""
    for platform in ("cpu", "CUDA"):
        handler = getattr(handlers, f"{kernel}_on_{platform.lower()}")
        jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(handler), platform=platform)


@dataclass(frozen=True, eq=False)
class FfiFunction:
    """A function for JAX programs that calls a kernel.

    names: the parameters of the kernel. results: those that are results only, not arguments.
    find_target: return the registered name and the kinds of the parameters, given all arguments,
    and the shapes and dtypes of results. defaults: values of parameters. The other fields are as in
    ``pycu2c.jax.ffi``.
    """

    name: str
    names: Sequence[str]
    results: Sequence[str]
    find_target: FindTarget
    grid: Any = None
    block: Any = None
    shared_bytes: int = 0
    out_shapes: Any = None
    vmap_method: str = "sequential"
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.vmap_method not in ("sequential", "broadcast_all"):
            raise ValueError(
                f"vmap_method is sequential or broadcast_all, not {self.vmap_method!r}"
            )
        if self.grid is None or self.block is None:
            raise TypeError(f"{self.name} needs a grid and a block: pass grid=... and block=...")

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        inputs = [name for name in self.names if name not in self.results]
        remaining = inputs[len(arguments) :]
        named = {**{n: v for n, v in self.defaults.items() if n in remaining}, **named}
        if len(arguments) > len(inputs) or {*remaining} != {*named}:
            passed = ", ".join((f"{len(arguments)} arguments", *named))
            raise TypeError(
                f"{self.name} takes ({', '.join(inputs)}), not {passed}; to change which arrays "
                f"are results only ({', '.join(self.results)}), name them in out_shapes"
            )
        call = self._call if self.vmap_method == "sequential" else _broadcasting(self._call)
        return call((), *arguments, *(named[n] for n in remaining))

    def _call(self, batch: tuple[int, ...], *arguments: Any) -> Any:
        passed = dict(zip((n for n in self.names if n not in self.results), arguments))
        shapes = _result_shapes(self.out_shapes, passed, self.results)
        if any(shape.shape[: len(batch)] != batch for shape in shapes):
            raise TypeError(
                f"a result of {self.name} has no axis for the batch, which "
                "vmap_method='broadcast_all' adds: pass a function of the arguments as out_shapes"
            )
        values = {**passed, **dict(zip(self.results, shapes))}
        target, kinds = self.find_target(values)
        if not {"w", "u"} & {*kinds.values()}:
            raise TypeError(f"{self.name} writes no array, so it has no result")
        attributes = {"shared_bytes": np.int64(self.shared_bytes)}
        for key, extent in ("grid", self.grid), ("block", self.block):
            value = extent(*arguments) if callable(extent) else extent
            attributes[key] = _lengths(f"{key} of {self.name}", value)
        return _call_target(target, kinds, values, attributes)


def _result_shapes(out_shapes: Any, given: Mapping[str, Any], results: Sequence[str]) -> list[Any]:
    """Return the shapes and dtypes of results. Raises TypeError."""
    rules = out_shapes(*given.values()) if callable(out_shapes) else out_shapes
    if isinstance(rules, Mapping):
        rules = [rules[name] for name in results]
    elif rules is None:
        first = next((n for n in given if _is_array(given[n])), None)
        if results and first is None:
            types = ", ".join(f"{n}: {type(value).__name__}" for n, value in given.items())
            raise TypeError(
                f"no argument is an array of JAX or NumPy ({types}); results are like the first "
                "one, or as out_shapes says"
            )
        rules = [first] * len(results)
    elif not isinstance(rules, (list, tuple)):
        rules = [rules]
    applied = [rule(*given.values()) if callable(rule) else rule for rule in rules]
    found: list[Any] = [given.get(rule) if isinstance(rule, str) else rule for rule in applied]
    if len(found) != len(results) or not all(hasattr(shape, "dtype") for shape in found):
        raise TypeError(
            f"out_shapes is {out_shapes!r}: pass a shape and dtype (jax.ShapeDtypeStruct) or the "
            f"name of an array argument for each of the results ({', '.join(results)})"
        )
    return [jax.ShapeDtypeStruct(shape.shape, shape.dtype) for shape in found]


def _is_array(value: object) -> bool:
    return isinstance(value, (jax.Array, np.ndarray))


def _call_target(
    target: str, kinds: Kinds, values: Mapping[str, Any], attributes: dict[str, Any]
) -> Any:
    """Call a registered kernel; return its result, or a tuple of several.

    values: the values of the parameters; for a result, its shape and dtype.
    """
    read = [jnp.asarray(values[n]) for n, kind in kinds.items() if kind == "r"]
    updated = {n: jnp.asarray(values[n]) for n, kind in kinds.items() if kind == "u"}
    results = [n for n, kind in kinds.items() if kind in "wu"]
    for name, kind in kinds.items():
        if kind in _NUMBERS:
            attributes[name] = _number(name, kind, constant(name, values[name]))
    shapes = [jax.typeof(updated[n]) if n in updated else values[n] for n in results]
    aliases = {len(read) + i: results.index(n) for i, n in enumerate(updated)}
    call = jax.ffi.ffi_call(target, shapes, vmap_method="sequential", input_output_aliases=aliases)
    if 0 in attributes["grid"]:  # nothing is launched
        found = [updated.get(n, jnp.zeros(s.shape, s.dtype)) for n, s in zip(results, shapes)]
    else:
        found = call(*read, *updated.values(), **attributes)
    return found[0] if len(found) == 1 else tuple(found)


def _number(name: str, kind: str, value: Any) -> Any:
    try:
        return _NUMBERS[kind](value)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{name} is {value!r}: {error}") from None


def constant(name: str, value: Any) -> Any:
    """Return the number of an array without axes, or another value. Raises TypeError."""
    if isinstance(value, jax.core.Tracer):
        raise TypeError(
            f"{name} is traced, but a number is a constant of the compiled program: make it a "
            "static argument (static_argnums), or let the kernel take an array of one element"
        )
    return np.asarray(value)[()] if _is_array(value) else value


def _lengths(name: str, extent: Any) -> Any:
    """Return the lengths of a grid or a block. Raises TypeError, ValueError."""
    lengths = extent if isinstance(extent, (tuple, list)) else (extent,)
    try:
        integers = [operator.index(length) for length in lengths]
    except TypeError:
        raise TypeError(f"the {name} is {extent}, and has 1 to 3 integers") from None
    if not 1 <= len(integers) <= 3 or not all(0 <= length < 1 << 31 for length in integers):
        raise ValueError(f"the {name} is {extent}, and has 1 to 3 lengths below 2**31")
    return np.array(integers, np.int64)


def _broadcasting(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that ``jax.vmap`` calls once: all arrays have the batch as first axis.

    The first argument of both functions is the shape of the batch.
    """

    def function(batch: tuple[int, ...], *arguments: Any) -> Any:
        def with_arrays(arrays: Sequence[Any]) -> list[Any]:
            remaining = iter(arrays)
            return [next(remaining) if _is_array(value) else value for value in arguments]

        def call_with_batch(size: int, is_batched: Sequence[bool], *arrays: Any) -> Any:
            pairs = zip(arrays, is_batched)
            all_batched = [a if b else jnp.broadcast_to(a, (size, *a.shape)) for a, b in pairs]
            results = function((size, *batch), *with_arrays(all_batched))
            return results, jax.tree.map(lambda _: True, results)

        batched = jax.custom_batching.custom_vmap(lambda *arrays: call(batch, *with_arrays(arrays)))
        batched.def_vmap(call_with_batch)
        return batched(*filter(_is_array, arguments))

    return function
