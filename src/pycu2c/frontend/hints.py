"""Word the hints of compile errors: what to write in place of an unsupported construct."""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType

import numpy as np

from pycu2c.base.dtypes import BY_NAME, DType, DTypeKind, vector_like
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import Array, Scalar
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.names.cuda_namespace import Namespace, members
from pycu2c.ops.names.host_names import FOR_THE_HOST, HOST_NAMES


def single_field_hint(value: object) -> str:
    """Return the hint for a record in place of a number; empty for other values."""
    record = _record(value)
    return (
        f"take one of its fields: r.{record.fields[0].name}{record_as_vector_hint(record)}"
        if record
        else ""
    )


def all_fields_hint(value: object) -> str:
    """Return the hint for a record in place of a tuple; empty for other values."""
    record = _record(value)
    if record is None:
        return ""
    fields = ", ".join(f"r.{f.name}" for f in record.fields)
    return f"write its fields: {fields}{record_as_vector_hint(record)}"


def vector_view_hint(*values: object) -> str:
    """Return the hint for a record with the layout of a required vector; also for types."""
    found = [_one(value) for value in values]
    records = [record for record in map(_record, values) if record]
    return next(
        (record_as_vector_hint(record) for record in records if vector_like(record) in found), ""
    )


def record_as_vector_hint(record: DType | None) -> str:
    """Return the hint for a record with the layout of a vector, or an empty string."""
    vector = vector_like(record) if record and record.kind is DTypeKind.RECORD else None
    return f"; to have a vector, pass a.view(cuda.{vector}.numpy)" if vector else ""


def _one(value: object) -> DType | None:
    """Return the type of one element or number."""
    kind = getattr(value, "type", value)
    if isinstance(kind, Array) and kind.ndim:
        return None
    return kind.dtype if isinstance(kind, (Scalar, Array)) else None


def _record(value: object) -> DType | None:
    record = _one(value)
    return record if record and record.kind is DTypeKind.RECORD else None


LOOP = "write a loop over the elements, `for x in a: …`"
_ALLOCATE = "use cuda.local.array(shape, dtype), one for each thread, or pass the array"
_FIXED = "write a tuple, or use cuda.local.array(n, dtype) and count its items"
_TEXT = "text is made on the host: store numbers in an array, and show them after the launch"
_TYPES = "a kernel is compiled for each combination of types: compare a.dtype, or `x is None`"
_RANDOM = "cuda.random has random numbers: cuda.random.xoroshiro128p_uniform_float32(states, i)"
_CLOCK = "measure the time around the launch"
_KERNEL = "decorate what kernels call with @device; a kernel is launched from Python"
_CALLED = (
    "kernels call math.f and np.f of numbers, cuda.*, abs min max sum round int float bool len, "
    "dtypes as conversions, and functions decorated with @device"
)


def count_phrase(number: int, noun: str) -> str:
    """Return ``1 axis`` or ``2 axes``."""
    plural = _PLURALS.get(noun, f"{noun}s")
    return f"{number} {noun if number == 1 else plural}"


_PLURALS = {"axis": "axes", "index": "indices"}


def valid_indices(count: int) -> str:
    """Return the hint with the valid constant indices of ``count`` items."""
    if count < 2:
        return "there is only the index 0" if count else "it has no items"
    return f"write 0 to {count - 1}, or -1 to -{count} from the end"


# ---- functions ---------------------------------------------------------------------------------

_MODULES = {
    "random": _RANDOM,
    "numpy.random": _RANDOM,
    "numpy.linalg": LOOP,
    "time": _CLOCK,
    "datetime": _CLOCK,
}
_FUNCTION_HINTS = (
    (
        "numpy",
        "zeros ones empty full array asarray linspace eye concatenate stack copy "
        "zeros_like ones_like empty_like full_like",
        _ALLOCATE,
    ),
    ("numpy", "arange", f"to count, write `for i in range(n): …`; for an array {_ALLOCATE}"),
    (
        "numpy",
        "sum prod mean std var median min max amin amax argmin argmax any all dot vdot inner "
        "cumsum sort argsort count_nonzero nonzero",
        LOOP,
    ),
    ("builtins", "sorted map filter iter next", LOOP),
    ("builtins", "list dict set frozenset bytearray", _FIXED),
    ("builtins", "str repr format chr open input", _TEXT),
    ("builtins", "isinstance issubclass type hasattr getattr callable", _TYPES),
)
_ON_HOST = frozenset({*HOST_NAMES.values(), "pycu2c.device_library.random.states"})
_FUNCTIONS = {
    f"{home}.{name}": hint for home, names, hint in _FUNCTION_HINTS for name in names.split()
}


def unsupported_function(value: object) -> tuple[str, str]:
    """Return what a called object is, and what to write in its place."""
    name = getattr(value, "__name__", None) or type(value).__name__
    home, owner = _home(value), getattr(value, "__self__", None)
    full = f"{home}.{name}" if home and home != "builtins" else name
    if hasattr(value, "__pycu2c_kernel__"):
        return f"`{name}` is a kernel", _KERNEL
    if home in _ON_HOST:
        return f"`{name}` is no function of kernels", FOR_THE_HOST
    if isinstance(value, FunctionType) and name == "<lambda>":
        return "this is a plain Python function", "pass or define device(lambda …)"
    if isinstance(value, FunctionType) and home.partition(".")[0] not in sys.stdlib_module_names:
        return f"`{name}` is a plain Python function", f"decorate {name} with @device"
    if isinstance(owner, str):
        return f"`{name}` is a method of strings", "compare strings with `==`"
    if isinstance(owner, (list, dict, set)):
        kind = type(owner).__name__
        return f"`{name}` is a method of a {kind}, outside of the kernel", _instead(owner)
    hint = _FUNCTIONS.get(f"{home}.{name}") or _MODULES.get(home)
    if hint is None and isinstance(value, type) and issubclass(value, np.generic):
        return f"kernels have no `{full}`", "use float64, or another number that kernels have"
    if hint is None and isinstance(value, type) and home != "builtins":
        return f"`{name}` is a class", "keep its fields in variables or in a tuple"
    return f"kernels have no `{full}`", hint or _CALLED


def _home(value: object) -> str:
    """Return the module of a function, or of a method's object, as for ``random.random``."""
    home = getattr(value, "__module__", None) or type(getattr(value, "__self__", None)).__module__
    return "numpy.random" if home.startswith("numpy.random.") else home


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
        return _instead(value)
    return f"call it: {getattr(value, '__name__', 'f')}(…)"


def _instead(value: object) -> str:
    """Return the hint for a global object that is no constant."""
    match value:
        case list():
            return "write it as a tuple, or as a numpy array; what a kernel writes is an argument"
        case dict():
            return "use one global for each key, or a named tuple; or pass an array"
        case set() | frozenset():
            return "write it as a tuple; `in` looks into tuples"
        case _:
            return "pass numbers, tuples and arrays as arguments of the kernel"


def instead_of_global(value: object) -> str:
    """Return the hint for an object that is subscripted or assigned to and is no array."""
    if isinstance(value, (str, Namespace, ModuleType)) or callable(value):
        return "only arrays and tuples have elements"
    return _instead(value) if value is not None else instead_of_object(value)


_PYTHONS: dict[object, str] = {
    float: "float64 or float32",
    int: "int64 or int32",
    bool: "bool_",
    complex: "complex128 or complex64",
}


def instead_of_dtype(value: object) -> str:
    """Return the hint for an object in place of a dtype."""
    if isinstance(value, type) and value in _PYTHONS:
        return f"Python's numbers have no size in memory: write {_PYTHONS[value]}"
    hint = "write float32, int32, … (from pycu2c or numpy)"
    return did_you_mean(value, BY_NAME, hint) if isinstance(value, str) else hint


# ---- names -------------------------------------------------------------------------------------

_IMPORTS = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "math": "import math",
    "cuda": "from pycu2c import cuda",
    "device": "from pycu2c import device",
} | {name: f"from pycu2c import {name}" for name in BY_NAME if name != "bool"}
_ELSEWHERE = {  # names of numba and CUDA C
    "prange": "range; cuda.grid(1) spreads work over threads",
    "__syncthreads": "cuda.syncthreads()",
    **{
        f"atomic{name}": f"cuda.atomic.{ours}(array, index, value)"
        for name, ours in {
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
_SHORT = {"cuda": "cuda", "math": "math", "numpy": "np"}


def defined_elsewhere(name: str) -> str | None:
    """Return the hint for a name that a module defines: ``threadIdx`` is ``cuda.threadIdx``."""
    if name in _IMPORTS:
        return f"write `{_IMPORTS[name]}` at the top of the file"
    if name in _ELSEWHERE:
        return f"write {_ELSEWHERE[name]}"
    for known in tuple(REGISTRY):
        home, _, rest = known.partition(".")
        if home in _SHORT and rest.partition(".")[0] == name:
            return f"write `{_SHORT[home]}.{name}`"
    return None


# ---- attributes --------------------------------------------------------------------------------

_ATTRIBUTES = {
    **dict.fromkeys(("sum", "prod", "mean", "max", "min", "argmax", "argmin", "any", "all"), LOOP),
    **dict.fromkeys(("append", "extend", "insert", "pop", "remove", "clear"), _FIXED),
    "fill": "let each thread set one element, a[i] = …",
    "astype": "convert one number with its type: int32(x)",
    "item": "leave it out: an element is a number",
    "length": "write len(a)",
    "view": "numbers have it, a[i].view(float32), and arrays of the host; dynamic shared memory "
    "is the same bytes in each cuda.shared.array(0, dtype)",
    **dict.fromkeys(("bit_length", "is_integer"), "Python's own numbers have it: int(n), float(x)"),
}


def instead_of_attribute(name: str, otherwise: str) -> str:
    """Return the hint for an attribute that Python objects have and kernels do not."""
    return _ATTRIBUTES.get(name, otherwise)
