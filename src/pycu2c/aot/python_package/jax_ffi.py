"""Call the kernels of a library in JAX programs, through handlers of XLA's FFI.

You may use, change and distribute this file freely, for any purpose and without conditions.
"""

from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Parameters = Mapping[str, str]
FindTarget = Callable[[Mapping[str, Any]], tuple[str, Parameters]]
_NUMBERS: Mapping[str, Callable[[Any], Any]] = {
    "D": lambda value: np.array([complex(value)]).view(np.float64),  # the parts
    "d": lambda value: np.float64(float(value)),
    "q": lambda value: np.int64(operator.index(value)),
    "?": lambda value: np.int64(bool(value)),
}


class HandlerLibrary:
    """A shared library with handlers: beside this file, or in ``lib`` of the build."""

    def __init__(self, name: str) -> None:
        folder = os.path.dirname(os.path.abspath(__file__))
        places = folder, os.path.join(folder, "..", "..", "lib")
        paths = [os.path.join(place, f"lib{name}_xla.so") for place in places]
        self._name = name
        self._handlers = ctypes.CDLL(next(filter(os.path.exists, paths), paths[0]))

    def kernel(
        self, name: str, parameters: Sequence[tuple[str, str]], has_grid: bool
    ) -> Callable[..., Any]:
        """Return the function that calls a kernel; ``parameters`` are as in ``_call_target``."""
        target, letters = f"{self._name}.{name}", dict(parameters)
        stored = [n for n, letter in parameters if letter == "w"]
        register(self._handlers, name, target)

        def kernel(*arguments: Any, out_shapes: Any = None, **options: Any) -> Any:
            used = with_results(name, letters, result_names(out_shapes, stored))
            named = {n: options.pop(n) for n in letters if n in options}
            if not has_grid:
                options |= {"grid": (), "block": ()}
            options["out_shapes"] = out_shapes
            results = [n for n, letter in used.items() if letter == "w"]
            call = function(name, [*used], results, lambda _: (target, used), **options)
            return call(*arguments, **named)

        kernel.__name__ = kernel.__qualname__ = name
        return kernel


def result_names(out_shapes: Any, stored: Sequence[str]) -> Sequence[str]:
    """Return the names of the results that are no arguments."""
    return list(out_shapes) if isinstance(out_shapes, Mapping) else stored


def with_results(kernel: str, parameters: Parameters, results: Sequence[str]) -> Parameters:
    """Return parameters of which certain ones are results only. Raises TypeError."""
    unwritten = {*results} - {n for n, letter in parameters.items() if letter in "wu"}
    if unwritten:
        raise TypeError(f"out_shapes has {unwritten.pop()}, and {kernel} writes no such array")
    kinds = {n: "w" if n in results else "u" for n, letter in parameters.items() if letter in "wu"}
    return {**parameters, **kinds}


def register(handlers: ctypes.CDLL, kernel: str, target: str) -> None:
    """Register the handlers of a kernel under a name."""
    for platform in ("cpu", "CUDA"):
        handler = getattr(handlers, f"{kernel}_on_{platform.lower()}")
        jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(handler), platform=platform)


def function(
    name: str,
    names: Sequence[str],
    results: Sequence[str],
    find_target: FindTarget,
    *,
    grid: Any = None,
    block: Any = None,
    shared_bytes: int = 0,
    out_shapes: Any = None,
    vmap_method: str = "sequential",
    defaults: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Return the function that calls a kernel.

    names: of its parameters. results: those that are no arguments. find_target: returns the
    registered name and the parameters, given all arguments, and the shapes and dtypes of results.
    defaults: values of parameters.
    """
    if vmap_method not in ("sequential", "broadcast_all"):
        raise ValueError(f"vmap_method is sequential or broadcast_all, not {vmap_method!r}")
    if grid is None or block is None:
        raise TypeError(f"{name} needs a grid and a block: pass grid=... and block=...")
    inputs = [n for n in names if n not in results]

    def call(batch: tuple[int, ...], *arguments: Any) -> Any:
        given = dict(zip(inputs, arguments))
        shapes = _result_shapes(out_shapes, given, results)
        if any(shape.shape[: len(batch)] != batch for shape in shapes):
            raise TypeError(
                f"a result of {name} has no axis for the batch, which vmap_method='broadcast_all' "
                "adds: pass a function of the arguments as out_shapes"
            )
        values = {**given, **dict(zip(results, shapes))}
        target, parameters = find_target(values)
        if not {"w", "u"} & {*parameters.values()}:
            raise TypeError(f"{name} writes no array, and so has no result")
        attributes = {"shared_bytes": np.int64(shared_bytes)}
        for key, extent in ("grid", grid), ("block", block):
            if extent != ():  # of kernels whose grid follows from the arrays
                value = extent(*arguments) if callable(extent) else extent
                attributes[key] = _lengths(f"{key} of {name}", value)
        return _call_target(target, parameters, values, attributes)

    run = call if vmap_method == "sequential" else _broadcasting(call)

    def call_with_names(*arguments: Any, **named: Any) -> Any:
        remaining = inputs[len(arguments) :]
        named = {**{n: v for n, v in (defaults or {}).items() if n in remaining}, **named}
        if len(arguments) > len(inputs) or {*remaining} != {*named}:
            passed = ", ".join((f"{len(arguments)} arguments", *named))
            raise TypeError(
                f"{name} takes ({', '.join(inputs)}), not {passed}; to change "
                f"which arrays are results only ({', '.join(results)}), name them in out_shapes"
            )
        return run((), *arguments, *(named[n] for n in remaining))

    return call_with_names


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
    target: str, parameters: Parameters, values: Mapping[str, Any], attributes: dict[str, Any]
) -> Any:
    """Call a registered kernel; return its result, or a tuple of several.

    parameters: with a letter for each: ``r`` for an array that is only read, ``w`` for a result,
    ``u`` for an array that is also a result, ``D``, ``d``, ``q`` and ``?`` for a complex number, a
    double, an int64 and a bool. values: of the parameters; for a result, its shape and dtype.
    """
    read = [jnp.asarray(values[n]) for n, letter in parameters.items() if letter == "r"]
    updated = {n: jnp.asarray(values[n]) for n, letter in parameters.items() if letter == "u"}
    results = [n for n, letter in parameters.items() if letter in "wu"]
    for name, letter in parameters.items():
        if letter in _NUMBERS:
            attributes[name] = _NUMBERS[letter](constant(name, values[name]))
    shapes = [jax.typeof(updated[n]) if n in updated else values[n] for n in results]
    aliases = {len(read) + i: results.index(n) for i, n in enumerate(updated)}
    call = jax.ffi.ffi_call(target, shapes, vmap_method="sequential", input_output_aliases=aliases)
    if 0 in attributes.get("grid", ()):  # nothing is launched
        found = [updated.get(n, jnp.zeros(s.shape, s.dtype)) for n, s in zip(results, shapes)]
    else:
        found = call(*read, *updated.values(), **attributes)
    return found[0] if len(found) == 1 else tuple(found)


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
