"""Hints of compile errors: what to write in place of an unsupported construct."""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType

import numpy as np

from pycu2c.base.dtypes import BY_NAME, DType, DTypeKind
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import Array, Scalar
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.names.cuda_namespace import Namespace, members
from pycu2c.ops.names.host_names import HOST_NAMES, HOST_ONLY_HINT


def single_field_hint(value: object) -> str:
    """Return the hint for a record in place of a number; empty for other values."""
    record = _record_dtype(value)
    return f"take one of its fields: r.{record.fields[0].name}" if record else ""


def all_fields_hint(value: object) -> str:
    """Return the hint for a record in place of a tuple; empty for other values."""
    record = _record_dtype(value)
    return f"write its fields: {', '.join(f'r.{f.name}' for f in record.fields)}" if record else ""


def _record_dtype(value: object) -> DType | None:
    """Return the dtype of a record, from the value or its type; None for other values."""
    value_type = getattr(value, "type", value)
    if not isinstance(value_type, (Scalar, Array)):
        return None
    is_record = value_type.dtype.kind is DTypeKind.RECORD
    return value_type.dtype if is_record and not getattr(value_type, "ndim", 0) else None


_LOOP_HINT = "write a loop over the elements, `for x in a: …`"
_ALLOCATION_HINT = "use cuda.local.array(shape, dtype), one for each thread, or pass the array"
_FIXED_SIZE_HINT = (
    "write a tuple, or use cuda.local.array(n, dtype) and a variable for the number of used items"
)
_TEXT_HINT = "create text on the host: store numbers in an array, and format them after the launch"
_TYPE_TEST_HINT = (
    "a kernel is compiled for each combination of types: compare a.dtype, or use isinstance(x, …)"
)
_RANDOM_HINT = "cuda.random has random numbers: cuda.random.philox_uniform_float32(seed, i, k)"
_CLOCK_HINT = "measure the time around the launch"
_KERNEL_CALL_HINT = "decorate what kernels call with @device; a kernel is launched from Python"
_NUMBA_HINT = (
    "decorate its Python function with @device or numba.njit, in a file: kernels compile the text"
)
_CALLABLES_HINT = (
    "kernels call math.f and np.f of numbers, cuda.*, abs min max sum round int float bool len, "
    "dtypes as conversions, and functions decorated with @device"
)


def count_phrase(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 axis``, ``2 axes``."""
    plural = _PLURALS.get(noun, f"{noun}s")
    return f"{count} {noun if count == 1 else plural}"


_PLURALS = {"axis": "axes", "index": "indices"}


def valid_indices(count: int) -> str:
    """Return the hint with the valid constant indices of ``count`` items."""
    if count < 2:
        return "there is only the index 0" if count else "it has no items"
    return f"write 0 to {count - 1}, or -1 to -{count} from the end"


# ---- functions ---------------------------------------------------------------------------------

_MODULE_HINTS = {
    "random": _RANDOM_HINT,
    "numpy.random": _RANDOM_HINT,
    "numpy.linalg": _LOOP_HINT,
    "time": _CLOCK_HINT,
    "datetime": _CLOCK_HINT,
}
_HINTED_FUNCTIONS = (
    (
        "numpy",
        "zeros ones empty full array asarray linspace eye concatenate stack copy "
        "zeros_like ones_like empty_like full_like",
        _ALLOCATION_HINT,
    ),
    ("numpy", "arange", f"to count, write `for i in range(n): …`; for an array {_ALLOCATION_HINT}"),
    (
        "numpy",
        "median dot vdot inner cumsum sort argsort nonzero",
        _LOOP_HINT,
    ),
    ("builtins", "sorted map filter iter next", _LOOP_HINT),
    ("builtins", "list dict set frozenset bytearray", _FIXED_SIZE_HINT),
    ("builtins", "str repr format chr open input", _TEXT_HINT),
    ("builtins", "issubclass type hasattr getattr callable", _TYPE_TEST_HINT),
)
_HOST_MODULES = frozenset({*HOST_NAMES.values(), "pycu2c.device_library.random.states"})
_FUNCTION_HINTS = {
    f"{module}.{name}": hint for module, names, hint in _HINTED_FUNCTIONS for name in names.split()
}


def unsupported_function(value: object) -> tuple[str, str]:
    """Return what a called object is, and what to write in its place."""
    name = getattr(value, "__name__", None) or type(value).__name__
    module, owner = _module_name(value), getattr(value, "__self__", None)
    qualified_name = f"{module}.{name}" if module and module != "builtins" else name
    if type(value).__module__.startswith("numba."):
        return f"`{name}` is numba's {type(value).__name__.strip('_')}", _NUMBA_HINT
    if hasattr(value, "__pycu2c_kernel__"):
        return f"`{name}` is a kernel", _KERNEL_CALL_HINT
    if module in _HOST_MODULES:
        return f"`{name}` cannot be called in kernels", HOST_ONLY_HINT
    if isinstance(value, FunctionType) and name == "<lambda>":
        return "this is a plain Python function", "wrap it: device(lambda …)"
    if isinstance(value, FunctionType) and module.partition(".")[0] not in sys.stdlib_module_names:
        return f"`{name}` is a plain Python function", f"decorate {name} with @device"
    if isinstance(owner, str):
        return f"`{name}` is a method of strings", "compare strings with `==`"
    if isinstance(owner, (list, dict, set)):
        class_name = type(owner).__name__
        return f"`{name}` is a method of a {class_name}, outside of the kernel", _instead_of_global(
            owner
        )
    hint = _FUNCTION_HINTS.get(f"{module}.{name}") or _MODULE_HINTS.get(module)
    if hint is None and isinstance(value, type) and issubclass(value, np.generic):
        return (
            f"kernels have no `{qualified_name}`",
            "use float64, or another dtype that kernels support",
        )
    if hint is None and isinstance(value, type) and module != "builtins":
        return f"`{name}` is a class", "keep its fields in variables or in a tuple"
    return f"kernels have no `{qualified_name}`", hint or _CALLABLES_HINT


def _module_name(value: object) -> str:
    """Return the module of a function; for ``random.random``, that of the method's object."""
    module = getattr(value, "__module__", None) or type(getattr(value, "__self__", None)).__module__
    return "numpy.random" if module.startswith("numpy.random.") else module


# ---- objects -----------------------------------------------------------------------------------


def describe_object(value: object) -> str:
    """Return the description of a Python object in errors."""
    if isinstance(value, Intrinsic):
        return f"`{value.name}`"
    if isinstance(value, Namespace):
        return f"`{value}`"
    name = getattr(value, "__name__", None)
    if isinstance(value, ModuleType):
        return f"the module `{name}`"
    if name is None and type(value).__repr__ is object.__repr__:
        return f"an object of class `{type(value).__name__}`"
    return f"`{name or repr(value)}`"


def instead_of_object(value: object) -> str:
    """Return the hint for an object in place of a number."""
    if value is None:
        return "test it before, `if x is not None: …`"
    if isinstance(value, str):
        return "a string can be compared with `==`; to compute, pass a number"
    if isinstance(value, Namespace):
        first = next(iter(members(value)))
        return f"write one of its names, such as {value}.{first}"
    if isinstance(value, Intrinsic):
        return f"call it: {value.name}(…)"
    if isinstance(value, Scalar):
        return f"it converts a number: {value}(x)"
    if isinstance(value, type) or not callable(value):
        return _instead_of_global(value)
    return f"call it: {getattr(value, '__name__', 'f')}(…)"


def _instead_of_global(value: object) -> str:
    """Return the hint for a global object that is no constant."""
    match value:
        case list():
            return (
                "write it as a tuple, or as a numpy array; an array that the kernel writes must be "
                "an argument"
            )
        case dict():
            return "use one global for each key, or a named tuple; or pass an array"
        case set() | frozenset():
            return "write it as a tuple; `in` works with tuples"
        case _:
            return "pass numbers, tuples and arrays as arguments of the kernel"


def instead_of_array(value: object) -> str:
    """Return the hint for an object that is subscripted or assigned to and is no array."""
    if isinstance(value, (str, Namespace, ModuleType)) or callable(value):
        return "only arrays and tuples have elements"
    return _instead_of_global(value) if value is not None else instead_of_object(value)


_DTYPES_OF_PYTHON_TYPES: dict[object, str] = {
    float: "float64 or float32",
    int: "int64 or int32",
    bool: "bool_",
    complex: "complex128 or complex64",
}


def instead_of_dtype(value: object) -> str:
    """Return the hint for an object in place of a dtype."""
    if isinstance(value, type) and value in _DTYPES_OF_PYTHON_TYPES:
        return f"Python's numbers have no size in memory: write {_DTYPES_OF_PYTHON_TYPES[value]}"
    hint = "write float32, int32, … (from pycu2c or numpy)"
    return did_you_mean(value, BY_NAME, hint) if isinstance(value, str) else hint


# ---- names -------------------------------------------------------------------------------------

_IMPORT_STATEMENTS = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "math": "import math",
    "cuda": "from pycu2c import cuda",
    "device": "from pycu2c import device",
} | {name: f"from pycu2c import {name}" for name in BY_NAME if name != "bool"}
_NUMBA_AND_CUDA_NAMES = {  # names of numba and CUDA C
    "prange": "range; cuda.grid(1) spreads work over threads",
    "__syncthreads": "cuda.syncthreads()",
    **{
        f"atomic{name}": f"cuda.atomic.{method}(array, index, value)"
        for name, method in {
            "Add": "add",
            "Sub": "sub",
            "And": "and_",
            "Or": "or_",
            "Xor": "xor",
            "Inc": "inc",
            "Dec": "dec",
            "Exch": "exch",
            "Max": "max",
            "Min": "min",
        }.items()
    },
    "atomicCAS": "cuda.atomic.cas(array, index, old, value)",
    "null": "None",
    "NULL": "None",
    "nullptr": "None",
}
_MODULE_ALIASES = {"cuda": "cuda", "math": "math", "numpy": "np"}


def defined_elsewhere(name: str) -> str | None:
    """Return the hint for a name that a module defines: ``threadIdx`` is ``cuda.threadIdx``."""
    if name in _IMPORT_STATEMENTS:
        return f"write `{_IMPORT_STATEMENTS[name]}` at the top of the file"
    if name in _NUMBA_AND_CUDA_NAMES:
        return f"write {_NUMBA_AND_CUDA_NAMES[name]}"
    for qualified_name in tuple(REGISTRY):
        module, _, member = qualified_name.partition(".")
        if module in _MODULE_ALIASES and member.partition(".")[0] == name:
            return f"write `{_MODULE_ALIASES[module]}.{name}`"
    return None


# ---- attributes --------------------------------------------------------------------------------

_ATTRIBUTE_HINTS = {
    **dict.fromkeys(("sort", "argsort", "cumsum", "cumprod", "dot", "nonzero"), _LOOP_HINT),
    **dict.fromkeys(("append", "extend", "insert", "pop", "remove", "clear"), _FIXED_SIZE_HINT),
    "fill": "let each thread set one element, a[i] = …",
    "astype": "convert one number with its type: int32(x)",
    "item": "leave it out: an element is a number",
    "length": "write len(a)",
    "view": "write a[i].view(float32) for one number, or call view() on the host; each "
    "cuda.shared.array(0, dtype) is a view of the same dynamic shared memory",
    **dict.fromkeys(
        ("bit_length", "is_integer"), "write int(n).bit_length() or float(x).is_integer()"
    ),
}


def instead_of_attribute(name: str, default: str) -> str:
    """Return the hint for an attribute that Python objects have and kernels do not."""
    return _ATTRIBUTE_HINTS.get(name, default)
