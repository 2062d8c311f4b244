"""Map dtypes to C type names, and describe kernel arguments as C declares them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BASIC_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned",
    "int64": "long",
    "uint64": "unsigned long",
    "float16": "half",
    "float32": "float",
    "float64": "double",
    "complex64": "pycuda::complex<float>",
    "complex128": "pycuda::complex<double>",
}
_SYNONYMS = {
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short int": "int16",
    "signed short": "int16",
    "unsigned short int": "uint16",
    "signed": "int32",
    "signed int": "int32",
    "unsigned int": "uint32",
    "size_t": "uint64",
    "ptrdiff_t": "int64",
    "long int": "int64",
    "signed long": "int64",
    "long long": "int64",
    "signed long long": "int64",
    "long long int": "int64",
    "unsigned long int": "uint64",
    "unsigned long long": "uint64",
    "unsigned long long int": "uint64",
    "__half": "float16",
    **{f"{name}_t": name for name in _BASIC_TYPES if "int" in name},
}
_VECTOR_COMPONENTS: dict[str, tuple[Any, int]] = {  # component type and maximum length
    "char": (np.int8, 4),
    "uchar": (np.uint8, 4),
    "short": (np.int16, 4),
    "ushort": (np.uint16, 4),
    "int": (np.int32, 4),
    "uint": (np.uint32, 4),
    "long": (np.int64, 4),
    "ulong": (np.uint64, 4),
    "longlong": (np.int64, 2),
    "ulonglong": (np.uint64, 2),
    "float": (np.float32, 4),
    "double": (np.float64, 2),
}

VECTORS: dict[str, np.dtype[Any]] = {
    f"{name}{count}": np.dtype([(field, component) for field in "xyzw"[:count]])
    for name, (component, max_count) in _VECTOR_COMPONENTS.items()
    for count in range(1, max_count + 1)
}
_CUDA_TYPES: dict[str, np.dtype[Any]] = {  # named as declared: CUDA's functions require them
    "cuComplex": np.dtype("complex64"),
    "cuFloatComplex": np.dtype("complex64"),
    "cuDoubleComplex": np.dtype("complex128"),
}
_DTYPES: dict[str, np.dtype[Any]] = {
    **{c_name: np.dtype(name) for name, c_name in _BASIC_TYPES.items()},
    **{c_name: np.dtype(name) for c_name, name in _SYNONYMS.items()},
    **VECTORS,
    **_CUDA_TYPES,
}
_C_NAMES: dict[np.dtype[Any], str] = {
    **{dtype: name for name, dtype in reversed(VECTORS.items())},
    **{np.dtype(name): c_name for name, c_name in _BASIC_TYPES.items()},
}


def get_or_register_dtype(c_names: str | Sequence[str], dtype: Any = None) -> np.dtype[Any]:
    """Return the dtype of a C type, after registering C types for a given dtype.

    Raises
    ------
    RuntimeError
        If a name is registered for another dtype.
    """
    names = [c_names] if isinstance(c_names, str) else list(c_names)
    if dtype is None:
        return _dtype_of(names[0])
    registered: np.dtype[Any] = np.dtype(dtype)
    for name in names:
        if _DTYPES.get(name, registered) != registered:
            raise RuntimeError(f"name '{name}' already registered to a different dtype")
        _DTYPES[name] = registered
    _C_NAMES.setdefault(registered, names[0])
    return registered


def dtype_to_ctype(dtype: Any) -> str:
    """Return the C type name of a dtype.

    Raises
    ------
    ValueError
        If no C type is registered for the dtype.
    """
    if dtype is None:
        raise ValueError("dtype may not be None")
    dtype = np.dtype(dtype)
    try:
        return _C_NAMES[dtype]
    except KeyError:
        raise ValueError(
            f"unable to map dtype '{dtype}': register a C name with "
            "get_or_register_dtype('name', dtype)"
        ) from None


class Argument:
    """A kernel argument. ``c_name`` is its C type, if it is not the default type of its dtype."""

    struct_char = ""
    c_name = ""

    def __init__(self, dtype: Any, name: str) -> None:
        self.dtype, self.name = np.dtype(dtype), name

    @property
    def ctype(self) -> str:
        """Return the C type of the scalar, or of the elements of the array."""
        return self.c_name or dtype_to_ctype(self.dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"

    def declarator(self) -> str:
        """Return the declaration in C."""
        raise NotImplementedError


class VectorArg(Argument):
    """An array argument."""

    struct_char = "P"

    def declarator(self) -> str:
        return f"{self.ctype} *{self.name}"


class ScalarArg(Argument):
    """A number or record argument."""

    def declarator(self) -> str:
        return f"{self.ctype} {self.name}"

    @property
    def struct_char(self) -> str:  # type: ignore[override]
        """Return the format character of ``prepare``."""
        return f"{self.dtype.itemsize}s" if self.dtype.char == "V" else self.dtype.char


_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|struct)\b")
_PARAMETER_NAME = re.compile(r"(\w+)\s*(\[\s*\d*\s*\])?\s*$")


def parse_c_arg(c_arg: str) -> Argument:
    """Return the argument of a declaration.

    Raises
    ------
    ValueError
        If it cannot be parsed.
    """
    text = _QUALIFIERS.sub(" ", c_arg)
    name = _PARAMETER_NAME.search(text)
    if name is None:
        raise ValueError(f"'{c_arg.strip()}' is not the declaration of a parameter in C")
    c_name = " ".join(text[: name.start()].replace("*", " ").split())
    is_array = "*" in text or name[2] is not None
    argument = (VectorArg if is_array else ScalarArg)(_dtype_of(c_name, c_arg), name[1])
    argument.c_name = c_name if c_name in _CUDA_TYPES else ""
    return argument


def parse_c_args(arguments: Any) -> list[Argument]:
    """Parse ``"float a, float *x"``, or a list of declarations or arguments."""
    if not isinstance(arguments, str):
        return [each if isinstance(each, Argument) else parse_c_arg(each) for each in arguments]
    declarations, depth, start = [], 0, 0
    for position, character in enumerate(arguments):
        depth += (character == "<") - (character == ">")
        if character == "," and depth == 0:
            declarations.append(arguments[start:position])
            start = position + 1
    return [parse_c_arg(c_arg) for c_arg in [*declarations, arguments[start:]] if c_arg.strip()]


def _dtype_of(c_name: str, declaration: str = "") -> np.dtype[Any]:
    normalized = re.sub(r"\s*([<>,])\s*", r"\1", c_name)
    if normalized not in _DTYPES:
        raise ValueError(
            f"'{(declaration or c_name).strip()}' has the unknown type '{c_name}': the types are "
            f"{', '.join(_BASIC_TYPES.values())}; "
            f"get_or_register_dtype('{c_name}', dtype) adds others"
        )
    return _DTYPES[normalized]


# ---- gpuarray.vec: CUDA vector types as numpy dtypes, float3 and make_float3 --------------------


class _VectorNamespace:
    """The namespace ``gpuarray.vec``."""

    def __getattr__(self, name: str) -> Any:
        if name in VECTORS:
            return VECTORS[name]
        if name.startswith("make_") and name[5:] in VECTORS:
            return _vector_constructor(VECTORS[name[5:]])
        raise AttributeError(f"CUDA has no vector type {name}", name=name, obj=self)

    def __dir__(self) -> list[str]:
        return [*VECTORS, *(f"make_{name}" for name in VECTORS)]


def _vector_constructor(dtype: np.dtype[Any]) -> Callable[..., NDArray[Any]]:
    def make(*numbers: Any) -> NDArray[Any]:
        if len(numbers) != len(dtype.names or ()):
            raise TypeError(f"expected {len(dtype.names or ())} numbers, not {len(numbers)}")
        return np.array(numbers, dtype)

    return make


vec = _VectorNamespace()
