"""Map dtypes to C type names, and describe kernel arguments as C declares them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycu2c.declarations.parameter_docs import document_parameters

_NAMES = {  # the C names of a dtype; dtype_to_ctype returns the first one
    "bool": "bool",
    "int8": "signed char, char, int8_t",
    "uint8": "unsigned char, uint8_t",
    "int16": "short, short int, signed short, int16_t",
    "uint16": "unsigned short, unsigned short int, uint16_t",
    "int32": "int, signed, signed int, int32_t",
    "uint32": "unsigned, unsigned int, uint32_t",
    "int64": "long, long int, signed long, long long, signed long long, long long int, int64_t, "
    "ptrdiff_t",
    "uint64": "unsigned long, unsigned long int, unsigned long long, unsigned long long int, "
    "uint64_t, size_t",
    "float16": "half, __half",
    "float32": "float",
    "float64": "double",
    "complex64": "pycuda::complex<float>",
    "complex128": "pycuda::complex<double>",
}
_COMPONENTS = {  # of CUDA's vector types
    **{"char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32"},
    **{"uint": "uint32", "long": "int64", "ulong": "uint64", "float": "float32"},
    "double": "float64",
}
VECTORS = {
    f"{name}{count}": np.dtype([(field, component) for field in "xyzw"[:count]])
    for name, component in _COMPONENTS.items()
    for count in range(1, 5)
}
_DTYPES: dict[str, np.dtype[Any]] = VECTORS | {
    name: np.dtype(dtype) for dtype, names in _NAMES.items() for name in names.split(", ")
}
_C_NAMES: dict[np.dtype[Any], str] = {
    dtype: name for name, dtype in reversed((VECTORS | _DTYPES).items())
} | {np.dtype(dtype): names.partition(",")[0] for dtype, names in _NAMES.items()}


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
        if _DTYPES.setdefault(name, registered) != registered:
            raise RuntimeError(f"name '{name}' already registered to a different dtype")
    _C_NAMES.setdefault(registered, names[0])
    return registered


def dtype_to_ctype(dtype: Any) -> str:
    """Return the C type name of a dtype.

    Raises
    ------
    ValueError
        If no C type is registered for the dtype.
    """
    name = _C_NAMES.get(np.dtype(dtype))
    if dtype is None or name is None:
        hint = "register a C name with get_or_register_dtype('name', dtype)"
        raise ValueError(f"unable to map dtype '{dtype}': {hint}")
    return name


class Argument:
    """A kernel argument: a dtype and a name."""

    struct_char = "P"
    _separator = " *"

    def __init__(self, dtype: Any, name: str) -> None:
        self.dtype, self.name = np.dtype(dtype), name

    def declarator(self) -> str:
        """Return the declaration in C."""
        return f"{dtype_to_ctype(self.dtype)}{self._separator}{self.name}"


class VectorArg(Argument):
    """An array argument."""


class ScalarArg(Argument):
    """A number or record argument."""

    _separator = " "

    @property
    def struct_char(self) -> str:  # type: ignore[override]
        """Return the format of ``Function.prepare``."""
        return f"{self.dtype.itemsize}s" if self.dtype.char == "V" else self.dtype.char


_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|struct)\b")
_DECLARATION = re.compile(r"(.*?)(\w+)\s*(\[\s*\d*\s*\])?\s*", re.S)


def parse_c_arg(c_arg: str) -> Argument:
    """Return the argument of a declaration.

    Raises
    ------
    ValueError
        If it cannot be parsed.
    """
    match = _DECLARATION.fullmatch(_QUALIFIERS.sub(" ", c_arg))
    if match is None:
        raise ValueError(f"'{c_arg.strip()}' is not the declaration of a parameter in C")
    declared, name, brackets = match.groups()
    c_name = re.sub(r"\s*([<>,])\s*", r"\1", " ".join(declared.replace("*", " ").split()))
    return (VectorArg if "*" in declared or brackets else ScalarArg)(_dtype_of(c_name), name)


def parse_c_args(arguments: Any) -> list[Argument]:
    """Parse ``"float a, float *x"``, or a list of declarations or arguments."""
    if isinstance(arguments, str):
        arguments = [each for each in re.split(r",(?![^<]*>)", arguments) if each.strip()]
    return [each if isinstance(each, Argument) else parse_c_arg(each) for each in arguments]


def _dtype_of(c_name: str) -> np.dtype[Any]:
    if c_name not in _DTYPES:
        raise ValueError(
            f"the C type '{c_name}' is unknown: get_or_register_dtype('{c_name}', dtype) adds it"
        )
    return _DTYPES[c_name]


class _VectorNamespace:
    """The namespace ``gpuarray.vec``: dtypes, ``vec.float3``, and records, ``vec.make_float3``."""

    def __getattr__(self, name: str) -> Any:
        dtype = VECTORS.get(name.removeprefix("make_"))
        if dtype is None:
            raise AttributeError(f"CUDA has no vector type {name}", name=name, obj=self)
        return (lambda *numbers: np.array(numbers, dtype)) if name.startswith("make_") else dtype


vec = _VectorNamespace()


document_parameters(
    globals(),
    """
c_names : str or list of str | The names of the type in C.
dtype : dtype_like | The dtype.
""",
)
