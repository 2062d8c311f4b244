"""Functions that rewritten kernels call: built-ins, intrinsics and attributes.

Functions that synchronize threads are generator functions; the interpreter runs them with ``yield
from``.
"""

from __future__ import annotations

import io
import operator
import warnings
from collections.abc import Callable, Sequence
from functools import partial, reduce
from types import BuiltinMethodType, FunctionType
from typing import Any

import numpy as np

from pycu2c.base.dtypes import BOOL, DTypeKind
from pycu2c.base.types import (
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Scalar,
    float32,
    promote,
)
from pycu2c.base.values import convert, is_named_tuple
from pycu2c.base.vectors import Vector, vector
from pycu2c.interpreter.scheduler import Coroutine
from pycu2c.ops.intrinsics import array_reductions
from pycu2c.ops.intrinsics.floats.complex import COMPARISONS, complex_form
from pycu2c.ops.intrinsics.floats.math import (
    IDENTITY_ON_INTEGERS,
    floating_type,
    variant_for_arguments,
)
from pycu2c.ops.intrinsics.integers.integers import FOLDED_FUNCTIONS
from pycu2c.ops.intrinsics.kinds import FIXED, HANDLE_KINDS
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, bound_to
from pycu2c.ops.intrinsics.threads.coalesced_groups import CoalescedGroup
from pycu2c.ops.intrinsics.threads.cooperative_groups import tiled_partition
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.names.loop_hints import literal_unroll
from pycu2c.ops.names.numba_names import is_from_buffer, numba_name
from pycu2c.ops.names.number_methods import NUMBER_METHODS
from pycu2c.ops.names.operator_functions import operator_named
from pycu2c.ops.operators import ADD, FLOORDIV, MOD, POW, Operator
from support.ast_interpreter.elements import (
    Location,
    UnsupportedByReferenceError,
    out_of_bounds_error,
    scalar_type,
    subscript,
    to_scalar,
    type_of,
)
from support.ast_interpreter.operators import binary_operation, common_type, with_names_of


def canonical_object(value: object) -> object:
    """Return a global as kernels see it: numba's names map to ours."""
    return numba_name(value) or value


def method_of(target: object, arguments: tuple[Any, ...]) -> object:
    """Return the target of a call, or the method that replaces it for a coalesced group."""
    if target is tiled_partition and arguments and isinstance(arguments[0], CoalescedGroup):
        return CoalescedGroup.tiled_partition
    return target


def read(value: object) -> Any:
    """Return the value of a global; ``cuda.threadIdx.x`` depends on the running thread."""
    if isinstance(value, tuple):
        return with_names_of(value, [read(canonical_object(item)) for item in value])
    intrinsic = bound_to(value)
    return (
        intrinsic.reference() if intrinsic is not None and intrinsic.is_special_register else value
    )


def attribute(owner: Any, name: str) -> Any:
    """Return an attribute, or the field of a record or of an array's records."""
    return to_scalar(field(owner, name))


def field(owner: Any, name: str) -> Any:
    """Return a field in place: a vector is not loaded from its array."""
    if isinstance(owner, (np.void, np.ndarray)) and name in (owner.dtype.names or ()):
        return owner[name]
    return read(canonical_object(getattr(owner, name)))


def is_data(value: object) -> bool:
    """Return whether an object is data rather than a namespace."""
    return isinstance(value, (tuple, np.generic, np.ndarray, str))


def run_without_waiting(steps: Coroutine) -> Any:
    """Run a function that may synchronize to its end; raise if it does synchronize."""
    try:
        next(steps)
    except StopIteration as stop:
        return stop.value
    raise UnsupportedByReferenceError("threads synchronize inside of a comprehension")


def is_local_function(target: object) -> bool:
    """Return whether a value is a function of the rewritten code, or a supported method."""
    if isinstance(target, BuiltinMethodType):
        if isinstance(target.__self__, np.ndarray):
            return target.__name__ in ("reshape", "ravel", "copy", *array_reductions.METHODS)
        return is_converting_method(target)
    return isinstance(target, FunctionType) and any(name[:1] == "<" for name in target.__globals__)


def is_converting_method(target: object) -> bool:
    """Return whether a value is a supported method of a number, or ``view`` of an array."""
    owner = getattr(target, "__self__", None)
    if isinstance(owner, np.ndarray):
        return getattr(target, "__name__", "") == "view"
    is_number = isinstance(owner, int | float | complex | np.generic)
    return is_number and getattr(target, "__name__", "") in NUMBER_METHODS


def numpy_type(value: object) -> Any:
    """Return a type as NumPy's methods take it."""
    scalar = scalar_named(value)
    return value if scalar is None else scalar.dtype.numpy


def raise_undefined(name: str, location: Location) -> Any:
    """Raise NameError when the name is reached: a constant branch may exclude it."""
    raise NameError(f"{location}: {name} is not defined")


def unsupported_callee(value: object, location: Location) -> Callable[..., Any]:
    def reject(*_: object, **__: object) -> Any:
        raise UnsupportedByReferenceError(f"{location}: {value!r} is not known to kernels")

    return reject


def unsupported_c_function(name: str) -> Callable[..., Any]:
    def reject(*_: object, **__: object) -> Any:
        raise UnsupportedByReferenceError(
            f"{name} is C alone: give it a Python body, which says what it computes"
        )

    return reject


# ---- Python's functions --------------------------------------------------------------------


def _absolute(x: Any) -> Any:
    if _is_complex(x):
        return REGISTRY["complex.abs"].reference(x)
    if type_of(x).dtype.kind is DTypeKind.BOOL:
        return convert(x, WEAK_INT) if type_of(x).weak else x
    return REGISTRY["abs"].reference(x)


def _round(number: Any, ndigits: Any = None) -> Any:
    if ndigits is not None and type(number) is float:
        return apply(REGISTRY["round_decimal"], "")(number, ndigits)
    if ndigits is not None:
        return apply(REGISTRY["numpy.round"], "")(number, ndigits)
    x = number
    if not type_of(x).dtype.is_float:
        return _python_int(x)
    return REGISTRY["round"].reference(x)


def _bool(x: Any) -> bool:
    return bool(x)


def _min_or_max(choose: Callable[[Any], Any]) -> Callable[..., Any]:
    def extreme(*arguments: Any) -> Any:
        values = list(arguments[0]) if len(arguments) == 1 else list(arguments)
        return choose(_in_common_type(values))

    return extreme


def _in_common_type(values: Sequence[Any]) -> list[Any]:
    """Convert numbers to their common type, and tuples item by item."""
    if all(isinstance(v, tuple) for v in values):
        columns = [_in_common_type(items) for items in zip(*values, strict=True)]
        return [with_names_of(value, row) for value, row in zip(values, zip(*columns))]
    common = common_type(values)
    return [convert(v, common) for v in values]


def _range(*bounds: Any) -> range:
    return range(*map(_python_int, bounds))


def _python_int(x: Any) -> int:
    """Return an integer as a Python int; only constants exceed 64 bits, and are exact."""
    return int(x) if isinstance(x, int) else int(convert(x, WEAK_INT))


def _sum(items: Any, start: Any = 0) -> Any:
    return reduce(ADD.reference, items, start)


def _divmod(a: Any, b: Any) -> Any:
    return FLOORDIV.reference(a, b), MOD.reference(a, b)


def _enumerate(items: Any, start: int = 0) -> Any:
    return enumerate(items, int(convert(start, WEAK_INT)))


def _complex(real: Any, imag: Any = None) -> complex:
    return complex(real) if imag is None else complex(real, float(imag))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, **limits: Any) -> Any:
    lower_limit, upper_limit = limits.get("min", a_min), limits.get("max", a_max)
    common = common_type([v for v in (a, lower_limit, upper_limit) if v is not None])
    result = convert(a, WEAK_INT if common == WEAK_BOOL else common)
    for name, limit in (("numpy.maximum", lower_limit), ("numpy.minimum", upper_limit)):
        if limit is not None:
            result = REGISTRY[name].reference(result, convert(limit, type_of(result)))
    return result


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(array: Any, **keywords: Any) -> Any:
        types = {name: numpy_type(value) for name, value in keywords.items()}
        with warnings.catch_warnings():  # the mean of no elements is nan, without a word
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(array, **types)

    return reduce


def _print(*values: object, **options: Any) -> None:
    """Print with one write: other Python threads may print between Python's own writes."""
    text = io.StringIO()
    print(*values, **options, file=text)
    print(text.getvalue(), end="")


BUILTINS: dict[object, Callable[..., Any]] = {
    complex: _complex,
    tuple: tuple,
    list: tuple,
    literal_unroll: literal_unroll,
    sum: _sum,
    all: all,
    any: any,
    enumerate: _enumerate,
    zip: zip,
    reversed: reversed,
    divmod: _divmod,
    pow: lambda base, exp: binary_operation(POW)(base, exp),
    np.clip: _clip,
    np.divmod: _divmod,
    isinstance: isinstance,
    np.result_type: lambda x: scalar_named(np.result_type(x)),
    np.dtype: lambda name: np.dtype(numpy_type(name)),
    print: _print,
    int: lambda x: convert(x, WEAK_INT),
    operator.index: lambda x: convert(operator.index(x), WEAK_INT),
    float: lambda x: convert(x, WEAK_FLOAT),
    bool: _bool,
    abs: _absolute,
    np.abs: _absolute,
    round: _round,
    len: len,
    min: _min_or_max(min),
    max: _min_or_max(max),
    range: _range,
    **{getattr(np, n): _reduction(getattr(np, n)) for n in array_reductions.REDUCTIONS},
}


def builtin(value: object) -> Callable[..., Any] | None:
    try:
        return BUILTINS.get(value)
    except TypeError:  # unhashable
        return None


def _construct_vector(scalar: Scalar, arguments: tuple[Any, ...]) -> Vector:
    """Evaluate ``float4(v, z, w)``."""
    components = [
        c for value in arguments for c in (value if isinstance(value, Vector) else (value,))
    ]
    fields = scalar.dtype.fields
    return vector(
        scalar.dtype, [convert(c, Scalar(f.dtype)) for c, f in zip(components, fields, strict=True)]
    )


def conversion(scalar: Scalar) -> Callable[..., Any]:
    """Return the function of ``float32(x)`` or ``float4(x, y, z, w)``."""
    if scalar.dtype.is_vector:
        return lambda *components: _construct_vector(scalar, components)
    if scalar.dtype.kind is DTypeKind.BOOL:
        return lambda x: np.bool_(bool(x))
    return lambda x: convert(x, scalar)


# ---- intrinsics ----------------------------------------------------------------------------


def apply(intrinsic: Intrinsic, location: Location) -> Callable[..., Any]:
    """Return the reference of an intrinsic with conversions of the arguments."""
    called_intrinsic = intrinsic

    def call(*arguments: Any, **keywords: Any) -> Any:
        if called_intrinsic.name in FOLDED_FUNCTIONS and len(arguments) == 1:
            magnitude = _absolute(arguments[0])
            if called_intrinsic.result == "F":
                return convert(magnitude, floating_type(magnitude))
            return magnitude
        if called_intrinsic.name in FOLDED_FUNCTIONS and len(arguments) > 2:
            return reduce(call, arguments)
        intrinsic = variant_for_arguments(called_intrinsic, len(arguments) + len(keywords))
        values = dict(zip((name for name, _ in intrinsic.parameters), arguments)) | keywords
        intrinsic = complex_form(intrinsic, any(map(_is_complex, values.values())))
        if intrinsic is REGISTRY["complex.conjugate"] and not any(
            map(_is_complex, values.values())
        ):
            return arguments[0]
        if intrinsic in IDENTITY_ON_INTEGERS and type_of(*values.values()).dtype.is_integral:
            (integer,) = values.values()
            return convert(integer, WEAK_INT) if intrinsic.result == "int" else integer
        try:
            return intrinsic.reference(*arguments_of(intrinsic, values))
        except IndexError as error:
            raise out_of_bounds_error(error, location) from None

    return call


def arguments_of(intrinsic: Intrinsic, values: dict[str, Any]) -> list[Any]:
    """Return the converted arguments in the order of the parameters."""
    common = parameter_type(intrinsic, values)
    return [_convert_argument(k, values[n], common) for n, k in intrinsic.parameters if n in values]


def _is_complex(value: Any) -> bool:
    return isinstance(value, (complex, np.complexfloating))


def parameter_type(intrinsic: Intrinsic, values: dict[str, Any]) -> Scalar | None:
    handles = [values[n] for n, kind in intrinsic.parameters if kind in HANDLE_KINDS]
    if handles:
        handle = handles[0].type.dtype.handle
        return Scalar(handle.element)
    arrays = [values[n] for n, kind in intrinsic.parameters if kind == "array"]
    if arrays:
        return scalar_type(arrays[0].dtype)
    numbers = [values[n] for n, kind in intrinsic.parameters if kind in ("T", "F")]
    if not numbers:
        return None
    common = common_type(numbers)
    is_floating = any(kind == "F" for _, kind in intrinsic.parameters)
    if intrinsic.name.startswith("complex."):
        return promote(common, WEAK_COMPLEX)
    if common == WEAK_BOOL and BOOL in intrinsic.dtypes:
        return common
    if common == WEAK_BOOL or (is_floating and common.dtype.is_integral):
        return WEAK_FLOAT if is_floating else WEAK_INT
    return common


def _convert_argument(kind: str, value: Any, common: Scalar | None) -> Any:
    match kind:
        case "T" | "F":
            assert common is not None
            return convert(value, common)
        case "int":
            return convert(value, WEAK_INT)
        case "bool":
            return bool(value)
        case "coordinate":
            return convert(value, float32)
        case "index":
            return subscript(value)
        case _ if kind in FIXED:
            return convert(value, Scalar(FIXED[kind]))
        case _:
            return value


def _compare(operator: Operator, function: np.ufunc, a: Any, b: Any) -> Any:
    """Compare numbers as a ufunc, which orders complex numbers too."""
    if not _is_complex(a) and not _is_complex(b):
        return operator.reference(a, b)
    intrinsic, exchanged = COMPARISONS[function]
    common = promote(type_of(a), type_of(b))
    pair = [convert(a, common), convert(b, common)]
    return intrinsic.reference(*(reversed(pair) if exchanged else pair))


def operation(value: object, location: Location) -> Callable[..., Any] | None:
    """Return the function that a call of a known object evaluates, or None.

    ``location`` is the location of the call, for errors.
    """
    builtin_function = builtin(value)
    if builtin_function is not None:
        return builtin_function
    if isinstance(value, type) and is_named_tuple(value):
        return value
    if is_from_buffer(value):
        return lambda array: array.reshape(-1)
    intrinsic = bound_to(value)
    if intrinsic is not None:
        return apply(intrinsic, location)
    operator = operator_named(value)
    if operator is not None:
        if isinstance(operator, Operator) and isinstance(value, np.ufunc) and value in COMPARISONS:
            return partial(_compare, operator, value)
        return operator.reference
    scalar = scalar_named(value)
    return conversion(scalar) if scalar is not None else None
