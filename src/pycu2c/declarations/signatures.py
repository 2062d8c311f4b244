"""Parse signatures that users write: our types, NumPy's, numba's, Python's and strings."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import typing
from collections.abc import Mapping, Sequence
from types import FunctionType, UnionType

import numpy as np

from pycu2c.base import dtypes, spelling_suggestions, types
from pycu2c.base.dtypes import BY_NAME
from pycu2c.base.errors import Error
from pycu2c.base.records import replace
from pycu2c.base.types import (
    HANDLES,
    NONE,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Array,
    Constant,
    ParameterType,
    Scalar,
    Signature,
    Tuple,
)
from pycu2c.ops.names.numba_names import numba_type

_PYTHON_TYPES: dict[type, Scalar] = {
    int: WEAK_INT,
    float: WEAK_FLOAT,
    bool: WEAK_BOOL,
    complex: WEAK_COMPLEX,
}
_EXAMPLES = "write float32, float32[:], float32[:, ::1], Array[float32, 2], (int32, float32)"


class SignatureError(Error, TypeError):
    """An invalid signature; the message says which part is wrong and what to write."""


def parse_type(value: object) -> ParameterType:
    """Return the type of one parameter. Raises SignatureError."""
    if value is None or value is type(None):
        return NONE
    if isinstance(value, (Scalar, Array, Tuple, Constant)):
        return value
    if isinstance(value, str):
        return _type_from_node(_parse(value))
    if isinstance(value, tuple):
        return Tuple(tuple(map(parse_type, value)))
    if isinstance(value, type) and value in _PYTHON_TYPES:
        return _PYTHON_TYPES[value]
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        dtype = dtypes.from_numpy(np.dtype(value))
        if dtype is not None:
            return Scalar(dtype)
    parsed = numba_type(value) or _type_from_python(value)
    if parsed is None:
        raise SignatureError(
            f"{value!r} is not a type of kernels: write float32, float32[:], 'float32[:, :]', …"
        )
    return parsed


def _type_from_python(value: object) -> Tuple | None:
    """Return the type of ``tuple[int, float]``, a NamedTuple or a dataclass; None for others."""
    if typing.get_origin(value) is tuple and ... not in typing.get_args(value):
        return Tuple(tuple(map(parse_type, typing.get_args(value))))
    if not isinstance(value, type):
        return None
    names: tuple[str, ...] = ()
    if issubclass(value, tuple):
        names = getattr(value, "_fields", ())
    elif dataclasses.is_dataclass(value):
        names = tuple(f.name for f in dataclasses.fields(value))
    annotations = inspect.get_annotations(value)
    if not names or any(name not in annotations for name in names):
        return None
    module_globals = getattr(sys.modules.get(value.__module__), "__dict__", {})
    items = tuple(
        parse_type(evaluate_annotation(annotations[name], module_globals)) for name in names
    )
    return Tuple(items, names)


# ---- types as text -------------------------------------------------------------------------------


def _type_from_node(node: ast.expr) -> ParameterType:
    """Evaluate a type: the types of ``pycu2c.types`` implement the syntax."""
    text = ast.unparse(node)
    code = compile(ast.Expression(_WithoutModules().visit(node)), "<type>", "eval")
    try:
        return parse_type(eval(code, {"__builtins__": {}}, _TypeNames(text)))
    except SignatureError:
        raise
    except Exception as error:
        raise SignatureError(f"cannot read {text!r}: {error}") from None


class _WithoutModules(ast.NodeTransformer):
    """Replaces ``numba.float32`` by ``float32``."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.Name:
        return ast.copy_location(ast.Name(node.attr, ast.Load()), node)


class _TypeNames(dict[str, object]):
    """The names in a type; those without an entry are dtypes."""

    def __init__(self, text: str) -> None:
        super().__init__(_NAMES)
        self.text = text

    def __missing__(self, name: str) -> Scalar:
        return _scalar_type(name, self.text)


def _uniform_tuple(*arguments: object) -> ParameterType:
    match arguments:
        case (item, int(count)):
            return types.UniTuple(parse_type(item), count)
    raise SignatureError("write UniTuple(float32, 3): a type and a number of items")


def _tuple_of_types(*arguments: object) -> ParameterType:
    match arguments:
        case (list(items) | tuple(items),):
            return parse_type(tuple(items))
    raise SignatureError("write Tuple((float32, int32)): the types in parentheses")


def _tensor_map(array: object, swizzle: str = "none") -> Tuple:
    """Return the type of a ``cuda.TensorMap``."""
    items = parse_type(array), Scalar(dtypes.UINT64), Constant(swizzle)
    return Tuple(items, ("array", "descriptor", "swizzle"))


_CONSTRUCTORS: dict[str, object] = {
    "Array": Array,
    "CPointer": types.CPointer,
    "UniTuple": _uniform_tuple,
    "Tuple": _tuple_of_types,
    "TensorMap": _tensor_map,
}
_NAMES = {
    **{python.__name__: scalar for python, scalar in _PYTHON_TYPES.items()},
    **_CONSTRUCTORS,
    **HANDLES,
    "tuple": tuple,
    "Literal": typing.Literal,
}


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise SignatureError(f"cannot read the type {text!r}: {_EXAMPLES}") from None


def _scalar_type(name: str, text: str) -> Scalar:
    declared, dtype = vars(types).get(name), BY_NAME.get(name.rstrip("_"))
    if isinstance(declared, Scalar):
        return declared
    if dtype is None:
        dtype_names = [dtype.name for dtype in dtypes.DTYPES]
        otherwise = f"there are {', '.join(dtype_names)}, and vectors such as float4"
        hint = spelling_suggestions.did_you_mean(name, BY_NAME, otherwise)
        hint = spelling_suggestions.did_you_mean(name, dtype_names, hint)
        raise SignatureError(f"{name!r} in {text!r} is no dtype: {hint}")
    return Scalar(dtype)


# ---- signatures ----------------------------------------------------------------------------------


def parse_signatures(value: object) -> tuple[Signature, ...]:
    """Return the signatures of a list, or the signature of another value, as a tuple."""
    if isinstance(value, list):
        return tuple(map(parse_signature, value))
    return (parse_signature(value),)


def parse_signature(value: object) -> Signature:
    """Return the signature of a tuple of types, a string or a Signature.

    Strings have the form ``"void(float32[:], int32)"``.
    """
    if isinstance(value, Signature):
        return value
    if isinstance(value, str):
        return _signature_from_text(value)
    if isinstance(value, Sequence):
        return Signature(tuple(parse_type(part) for part in value))
    parts = _arguments(value)
    if isinstance(parts, tuple):
        result = getattr(value, "return_type", None)  # of numba.int64(numba.int64)
        return Signature(tuple(map(parse_type, parts)), _numba_result(result))
    return Signature((parse_type(value),))


def _signature_from_text(text: str) -> Signature:
    """Parse ``void(x, y)``, ``(x, y)`` or ``x, y``."""
    if not text.strip():
        return Signature(())
    result: ParameterType | None = None
    nodes: list[ast.expr]
    match _parse(text):
        case ast.Call(func=head, args=nodes) if (name := ast.unparse(head)) not in _CONSTRUCTORS:
            result = NONE if name in ("void", "none") else _type_from_node(head)
        case ast.Tuple(elts=nodes):
            pass
        case node:
            nodes = [node]
    return Signature(tuple(map(_type_from_node, nodes)), result)


def _numba_result(value: object) -> ParameterType | None:
    if value is None or str(value) in ("void", "none"):
        return NONE
    return parse_type(value)


def is_signature(value: object) -> bool:
    """Return whether an object is a signature or type rather than a function."""
    if isinstance(value, (Signature, str, tuple, list, Scalar, Array, Tuple)):
        return True
    is_numba = type(value).__module__.startswith("numba.")
    return numba_type(value) is not None or (is_numba and isinstance(_arguments(value), tuple))


def _arguments(value: object) -> object:
    """Return the parameter types of ``numba.void(...)``, or None."""
    return getattr(value, "args", None)


def annotated_signature(function: FunctionType) -> Signature | None:
    """Return the signature from the annotations; None unless each one names a single type."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    annotations = inspect.get_annotations(function)
    is_variadic = bool(code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))
    if not names or is_variadic or any(name not in annotations for name in names):
        return None
    evaluated = [evaluate_annotation(annotations[name], function.__globals__) for name in names]
    if any(map(_is_unspecific, evaluated)):
        return None
    return Signature(tuple(_annotated_type(name, note) for name, note in zip(names, evaluated)))


def _is_unspecific(note: object) -> bool:
    """Return whether an annotation leaves the type open: ``int | None``, ``Any``, ``np.ndarray``.

    Array classes, also ``NDArray[np.float32]``, fix neither the rank nor, in general, the dtype.
    """
    origin = typing.get_origin(note) or note
    if origin in (typing.Union, UnionType, typing.Any, object):
        return True
    return isinstance(origin, type) and hasattr(origin, "__dlpack__")


def _annotated_type(name: str, note: object) -> ParameterType:
    try:
        return parse_type(note)
    except SignatureError as error:
        raise SignatureError(f"parameter {name}: {error}") from None


def annotated_device_signature(function: FunctionType) -> Signature | None:
    """Return the signature from the annotations of a device function, with its result."""
    code = function.__code__
    signature = Signature(())
    if code.co_argcount + code.co_kwonlyargcount or code.co_flags & inspect.CO_VARARGS:
        parameters = annotated_signature(function)
        if parameters is None:
            return None
        signature = parameters
    annotations = inspect.get_annotations(function)
    if "return" not in annotations:
        return signature
    return replace(
        signature,
        result=parse_type(evaluate_annotation(annotations["return"], function.__globals__)),
    )


def evaluate_annotation(note: object, module_globals: Mapping[str, object]) -> object:
    """Evaluate a string annotation in its module (``from __future__ import annotations``)."""
    note = getattr(note, "__forward_arg__", note)  # a ForwardRef of NamedTuple
    if not isinstance(note, str):
        return note
    try:
        return eval(note, dict(module_globals), vars(types))  # evaluates the user's annotation
    except Exception:
        return note
