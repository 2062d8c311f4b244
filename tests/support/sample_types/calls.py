"""Samples of the results of calls."""

from __future__ import annotations

import ast
from functools import partial
from itertools import chain
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType, Scalar, Tuple
from pycu2c.frontend.calls.declared_signatures import declared_signature
from pycu2c.frontend.scope.bindings import parameters
from pycu2c.ops.intrinsics import library
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.memory import allocation
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, bound_to
from pycu2c.ops.names.dtype_names import scalar_named
from support.ast_interpreter import calls as calls
from support.ast_interpreter import elements as elements
from support.ast_interpreter.device_variants import kind_of_value
from support.ast_interpreter.expressions import NOT_STATIC
from support.sample_types.expressions import ExpressionSamples
from support.sample_types.samples import (
    UNKNOWN,
    NestedFunction,
    NoSample,
    NotTyped,
    Sample,
    common_sample,
    is_tuple,
    number_type,
    sample_of,
    type_key,
)
from support.sample_types.variables import FunctionKey, UndeclaredRecursion


class CallSamples(ExpressionSamples):
    """Evaluates the calls of a function on samples."""

    # ---- implemented by subclasses ----

    def run_nested(self, function: NestedFunction, samples: list[Sample]) -> Sample:
        raise NotImplementedError

    def run_device(
        self, key: FunctionKey, samples: list[Sample], result: ParameterType | None
    ) -> Sample:
        raise NotImplementedError

    # ---- calls ----

    def call(self, node: ast.Call) -> Sample:
        target = self.rewriter.static_object(node.func)
        if power := self.rewriter.constants.power(node):
            return self.binary(power.left, power.op, power.right)
        if target in (allocation.shared_array, allocation.local_array):
            return self.allocated(node)
        if target is NOT_STATIC:
            target = self.expression(node.func)
        arguments = list(self.items_of_display(node.args))
        keywords = {str(k.arg): self.expression(k.value) for k in node.keywords}
        return self.call_object(target, arguments, keywords)

    def call_object(
        self, target: Any, arguments: list[Sample], keywords: dict[str, Sample]
    ) -> Sample:
        if isinstance(target, NestedFunction):
            samples = bind(target.tree.args, target.defaults, arguments, keywords)
            return self.run_nested(target, samples)
        if isinstance(getattr(target, "__self__", None), np.ndarray):
            return self.array_method(target, arguments, keywords)
        if calls.is_converting_method(target):
            return self.attempt(target, *map(calls.numpy_type, arguments), **keywords)
        target = calls.method_of(calls.canonical_object(target), tuple(arguments))
        if isinstance(target, MethodType):  # of a thread group
            arguments, target = [target.__self__, *arguments], target.__func__
        if target is print:  # the inference has no output
            return None
        intrinsic = bound_to(target)
        if intrinsic is not None and (intrinsic.synchronizes or intrinsic.effect is Effect.MEMORY):
            return self.effect_result(intrinsic, arguments, keywords)
        source = library.device_source(target)
        if source is not None:
            return self.device_result(source, arguments, keywords)
        items = arguments[0] if len(arguments) == 1 else arguments
        if target in (min, max) and all(map(is_tuple, items)):
            return common_sample(items)  # their order would depend on the samples
        function = calls.operation(target, "")
        if function is None and isinstance(target, FunctionType):  # it makes a device function
            function = partial(self.specializations.make_function, target)
        if function is None:
            raise NoSample
        return self.attempt(elements.lift_to_arrays(target, function), *arguments, **keywords)

    def array_method(
        self, method: Any, arguments: list[Sample], keywords: dict[str, Sample]
    ) -> Sample:
        array = method.__self__
        if method.__name__ == "reshape":
            shape = arguments[0] if isinstance(arguments[0], tuple) else arguments
            return np.ones((1,) * len(shape), array.dtype)
        if method.__name__ == "view":
            (dtype,) = map(calls.numpy_type, (*arguments, *keywords.values()))
            return np.ones(array.shape, dtype)
        if not calls.is_local_function(method):
            raise NoSample
        types = {name: calls.numpy_type(value) for name, value in keywords.items()}
        return elements.to_scalar(self.attempt(method, *arguments, **types))

    def allocated(self, node: ast.Call) -> Sample:
        values = [
            *node.args,
            *(k.value for k in sorted(node.keywords, key=lambda k: k.arg != "shape")),
        ]
        shape, scalar = values[0], scalar_named(self.expression(values[1]))
        if scalar is None:
            raise NoSample
        size = self.evaluate(shape)
        ndim = len(shape.elts) if isinstance(shape, ast.Tuple) else 1
        return np.ones((1,) * (len(size) if isinstance(size, tuple) else ndim), scalar.dtype.numpy)

    def effect_result(
        self, intrinsic: Intrinsic, arguments: list[Sample], keywords: dict[str, Sample]
    ) -> Sample:
        """Return the result of an operation on memory or on other threads, by its declaration."""
        values = dict(zip((name for name, _ in intrinsic.parameters), arguments)) | keywords
        match intrinsic.result:
            case "None":
                return None
            case "int":
                return 1
            case "bool":
                return True
            case "form":  # match_all_sync
                return 1, True
            case "T" if is_tuple(values.get("value")):  # a shuffle
                return tuple(
                    self.effect_result(intrinsic, [], values | {"value": item})
                    for item in values["value"]
                )
            case "T":
                return sample_of(self.parameter_type(intrinsic, values))
            case result if result in FIXED:
                return sample_of(Scalar(FIXED[result]))
            case _:
                raise NoSample

    def parameter_type(self, intrinsic: Intrinsic, values: dict[str, Sample]) -> Scalar:
        scalar = self.attempt(calls.parameter_type, intrinsic, values)
        if not isinstance(scalar, Scalar):
            raise NoSample
        return scalar

    def device_result(
        self, source: Source, arguments: list[Sample], keywords: dict[str, Sample]
    ) -> Sample:
        """Return the result of a device function, inferred for these arguments."""
        found = self.specializations
        samples = bind(source.tree.args, _defaults(source), arguments, keywords)
        kinds = tuple(map(kind_of_value, samples))
        has_signature = source.signature or source.external_code or source in found.recursive
        signature = declared_signature(source) if has_signature else None
        if signature is not None:
            samples = [_declared(s, t) for s, t in zip(samples, signature.parameters)]
        key = source, tuple(map(type_key, samples))
        found.keys.setdefault(source, {}).setdefault(kinds, {})[key] = None
        result = None if signature is None else signature.result
        if result is not None and (key in found.active or not _has_body(source)):
            return sample_of(result)
        if any(source is active for active, _ in found.active):
            return self.recursive_result(key)
        if key not in found.results or any(map(_is_function, samples)):
            found.results[key] = self.run_device(key, samples, result)
        if found.results[key] is UNKNOWN:
            raise NoSample
        return found.results[key]

    def recursive_result(self, key: FunctionKey) -> Sample:
        """Return the result of a function that is being inferred, in the pass before."""
        found = self.specializations
        if key[0] not in found.recursive:
            active = [source for source, _ in found.active]
            raise UndeclaredRecursion(set(active[active.index(key[0]) :]))
        if found.active.get(key, UNKNOWN) is UNKNOWN:
            raise NotTyped
        return found.active[key]


def bind(
    arguments: ast.arguments,
    defaults: dict[str, Any],
    positional: list[Sample],
    keywords: dict[str, Sample],
) -> list[Sample]:
    """Return one sample for each parameter; raise NoSample if they do not fit."""
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    values = {**defaults, **dict(zip(names, positional)), **keywords}
    if arguments.vararg is not None:
        values[arguments.vararg.arg] = tuple(positional[len(names) :])
    own = [a.arg for a in parameters(arguments)]
    if set(own) != set(values):
        raise NoSample
    return [values[name] for name in own]


def _defaults(source: Source) -> dict[str, Any]:
    function, arguments = source.python, source.tree.args
    positional = [a.arg for a in chain(arguments.posonlyargs, arguments.args)]
    values = function.__defaults__ or ()
    defaults = dict(zip(positional[len(positional) - len(values) :], values))
    return defaults | (function.__kwdefaults__ or {})


def _declared(sample: Sample, parameter_type: ParameterType) -> Sample:
    if isinstance(parameter_type, Tuple) and is_tuple(sample):
        items = [_declared(s, t) for s, t in zip(sample, parameter_type.items)]
        return getattr(type(sample), "_make", tuple)(items)
    is_number = isinstance(parameter_type, Scalar) and number_type(sample) is not None
    return sample_of(parameter_type) if is_number else sample


def _has_body(source: Source) -> bool:
    return source.external_code is None or source.external_code.has_python_body


def _is_function(sample: Sample) -> bool:
    """Return whether a sample has local functions, whose types depend on other variables."""
    return (
        any(map(_is_function, sample)) if is_tuple(sample) else isinstance(sample, NestedFunction)
    )
