"""What launches and copies say of objects that are no arrays, and what they do not lose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import LaunchError, cuda, guvectorize, kernel, vectorize
from pycu2c.runtime.arguments.conversion_hints import _CONVERSIONS

ARRAYS = Path(__file__).parents[2] / "docs/guide/arrays.md"


@kernel
def fill(a: Any) -> None:
    a[0] = 7


def stand_in(name: str, *bases: type, **members: Any) -> Any:
    """Return an object of a class as another package has it: ``pandas.Series``."""
    package, _, own = name.partition(".")
    return type(own, bases, {"__module__": f"{package}.core", **members})()


def numbers_of(_: Any, dtype: Any = None, copy: Any = None) -> Any:
    return np.zeros(4)


SERIES = {"__array__": numbers_of, "shape": (4,), "dtype": np.dtype(float)}


@pytest.mark.parametrize("name", [n for n in _CONVERSIONS if not n.startswith("numpy.")])
def test_a_launch_names_the_type_and_its_conversion(name: str) -> None:
    with pytest.raises(LaunchError) as error:
        fill[1, 1](stand_in(name, __array__=numbers_of))
    assert f"argument 1 (a) is a{'n' * (name[0] == 'x')} {name};" in str(error.value)
    assert str(error.value).endswith(f": pass {_CONVERSIONS[name]}")


def test_a_subclass_has_the_conversion_of_its_base_class() -> None:
    base = type(stand_in("pandas.Index"))
    with pytest.raises(
        LaunchError, match=r"a pandas.RangeIndex; .*: pass what .to_numpy\(\) gives"
    ):
        fill[1, 1](stand_in("pandas.RangeIndex", base))


@pytest.mark.parametrize("number", [np.longdouble(1), np.clongdouble(1)])
def test_long_numbers_are_converted_explicitly(number: Any) -> None:
    with pytest.raises(LaunchError, match=r": pass numpy.(float64|complex128)\(…\)$"):
        fill[1, 1](number)


def test_the_guide_lists_all_types() -> None:
    page = ARRAYS.read_text()
    assert not [name for name in _CONVERSIONS if name.rpartition(".")[2] not in page]


def test_an_error_of_a_dlpack_exporter_names_the_argument() -> None:
    """As an Arrow array with nulls does."""

    def reject(*_: Any, **__: Any) -> None:
        raise TypeError("no nulls")

    array = stand_in("pyarrow.Array", __dlpack__=reject, __dlpack_device__=lambda _: (1, 0))
    message = r"argument 1 \(a\) does not export .* \(no nulls\): pass .*zero_copy_only=False"
    with pytest.raises(LaunchError, match=message):
        fill[1, 1](array)


# ---- copies --------------------------------------------------------------------------------------


def test_copies_accept_what_numpy_converts() -> None:
    assert cuda.to_device(stand_in("pandas.Series", **SERIES)).copy_to_host().tolist() == [0] * 4


def test_copies_do_not_drop_a_mask() -> None:
    masked, array = np.ma.array([1.0, 2.0], mask=[True, False]), cuda.to_device(np.zeros(2))
    for copy in (
        lambda: cuda.to_device(masked),
        lambda: cuda.from_dlpack(masked),
        lambda: array.copy_to_device(masked),
        lambda: array.__setitem__(..., masked),
    ):
        with pytest.raises(TypeError, match=r"mask.*: pass its \.data, and its \.mask"):
            copy()
    assert array.copy_to_host().tolist() == [0, 0]


def enter(manager: Any) -> Any:
    """Return a function that enters and leaves a context manager."""

    def call(*arguments: Any) -> None:
        with manager(*arguments):
            pass

    return call


@pytest.mark.parametrize("given", [[0.0] * 4, stand_in("pandas.Series", **SERIES)])
def test_some_functions_accept_numpy_arrays_only(given: Any) -> None:
    calls = (cuda.to_device(np.zeros(4)).copy_to_host, enter(cuda.pinned), enter(cuda.mapped))
    for call in calls:
        with pytest.raises(TypeError, match=r"numpy array .*, not a (list|pandas\.Series): pass"):
            call(given)


def test_a_reduction_accepts_what_numpy_converts() -> None:
    total = cuda.reduce(lambda a, b: a + b)
    assert total([1.0, 2.0]) == 3
    assert total(stand_in("pandas.Series", **SERIES)) == 0


@pytest.mark.parametrize("convert", [cuda.as_cuda_array, cuda.from_dlpack])
def test_a_view_of_another_object_names_to_device(convert: Any) -> None:
    with pytest.raises(TypeError, match=r"a list has no __.*: cuda.to_device\(…\) copies it"):
        convert([1.0])


# ---- ufuncs --------------------------------------------------------------------------------------


@vectorize
def doubled(a):
    return 2 * a


@guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def copied(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i]


class Shared:
    """An array of another package over the memory of a numpy array."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.__array_interface__ = array.__array_interface__


@pytest.mark.parametrize("function", [doubled, copied])
def test_a_ufunc_does_not_lose_its_result(function: Any) -> None:
    with pytest.raises(TypeError, match=r"written to .*, not to a pandas\.Series: pass what"):
        function(np.ones(4), out=stand_in("pandas.Series", **SERIES))
    for dtype in (float, ">f8"):
        out = np.zeros(4, dtype)
        assert function(np.ones(4), out=out) is out
        assert out.all(), dtype
    shared = Shared(np.zeros(4))
    assert function(np.ones(4), out=shared) is shared
    assert shared.array.all()


@pytest.mark.parametrize("function", [doubled, copied])
def test_inputs_of_a_ufunc(function: Any) -> None:
    other_dtype = stand_in("polars.Series", __array__=numbers_of, dtype="Float64")
    for a in ([0.0] * 4, other_dtype):
        assert function(a).tolist() == [0] * 4
    with pytest.raises(TypeError, match="has a mask"):
        function(np.ma.zeros(4))
