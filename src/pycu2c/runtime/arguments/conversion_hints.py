"""Say how to convert an object that kernels and copies do not accept."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MASKED = "its .data, and its .mask as another array"
_ARROW_COLUMN = 'the array of a column, table["x"].to_numpy()'

# by the package and the name of a class, or of one of its base classes
_CONVERSIONS = {
    "dask.Array": "what .compute() gives",
    "decimal.Decimal": "float(…)",
    "fractions.Fraction": "float(…)",
    "numpy.MaskedArray": _MASKED,
    "numpy.clongdouble": "numpy.complex128(…)",
    "numpy.longdouble": "numpy.float64(…)",
    "pandas.DataFrame": 'the array of a column, df["x"].to_numpy()',
    "pandas.ExtensionArray": "what .to_numpy() gives",
    "pandas.Index": "what .to_numpy() gives",
    "pandas.Series": "what .to_numpy() gives",
    "polars.DataFrame": 'the array of a column, df["x"].to_numpy()',
    "polars.Series": "what .to_numpy() gives",
    "pyarrow.Array": "what .to_numpy(zero_copy_only=False) gives",
    "pyarrow.ChunkedArray": "what .to_numpy() gives",
    "pyarrow.RecordBatch": _ARROW_COLUMN,
    "pyarrow.Scalar": "what .as_py() gives",
    "pyarrow.Table": _ARROW_COLUMN,
    "scipy.sparray": "its .data, .indices and .indptr",
    "scipy.spmatrix": "its .data, .indices and .indptr",
    "xarray.DataArray": "its .data",
    "xarray.Dataset": 'the array of a variable, dataset["x"].data',
    "xarray.Variable": "its .data",
}
_PACKAGES = {"array", *(name.partition(".")[0] for name in _CONVERSIONS)}


def described(value: object) -> str:
    """Return ``an xarray.DataArray``, the package and the class of a value, or ``a list``."""
    name = _class_name(type(value))
    return f"an {name}" if name[0] in "aeioxAEIO" else f"a {name}"


def _class_name(cls: type) -> str:
    package = cls.__module__.partition(".")[0]
    return f"{package}.{cls.__name__}" if package in _PACKAGES else cls.__name__


def conversion_hint(value: object) -> str:
    """Return ``: pass …`` with the conversion of a value, or an empty string."""
    names = map(_class_name, type(value).__mro__)
    conversion = next((_CONVERSIONS[name] for name in names if name in _CONVERSIONS), None)
    conversion = conversion or _general_conversion(value)
    return f": pass {conversion}" if conversion else ""


def _general_conversion(value: object) -> str:
    match value:
        case list() | range():
            return "a tuple, or numpy.array(…)"
        case dict():
            return "a named tuple or a frozen dataclass"
        case Enum():
            return "its value, or make it an IntEnum"
        case bytes() | bytearray():
            return "numpy.frombuffer(…, dtype), which shares its memory"
        case _ if _is_buffer(value):
            return "numpy.asarray(…), which shares its memory"
        case _ if hasattr(type(value), "__array__"):
            return "numpy.asarray(…); if that is a copy, writes do not reach the object"
        case _ if callable(value):
            return "a function in Python, or a lambda"
        case _ if hasattr(value, "__dict__"):
            return "its fields, or make it a frozen dataclass"
        case _:
            return ""


def _is_buffer(value: object) -> bool:
    try:
        with memoryview(value):  # type: ignore[arg-type]
            return True
    except TypeError:
        return False


def require_numpy(value: object) -> None:
    """Raise TypeError if a value is not a numpy array."""
    if not isinstance(value, np.ndarray):
        raise TypeError(
            f"only a numpy array is accepted here, not {described(value)}{conversion_hint(value)}"
        )


def host_array(value: Any) -> NDArray[Any]:
    """Return ``numpy.asarray(value)``. Raises TypeError for a masked array, whose mask is lost."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"a masked array has a mask, which would be lost: pass {_MASKED}")
    return np.asarray(value)
