"""Docstrings of the public host API follow numpydoc: they name all parameters, types and results.

The callables are found by introspection: the names of the public modules, their public methods and
properties, and the classes of the objects that they return.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from types import FunctionType, ModuleType
from typing import get_overloads

import pytest
from numpydoc import validate
from numpydoc.docscrape import NumpyDocString, get_doc_object

import pycu2c
from pycu2c import cuda
from pycu2c.declarations.options import OPTION_NAMES
from pycu2c.kernels.kernel import DeviceFunction
from pycu2c.ops.names.host_names import HOST_NAMES

PUBLIC = ("core", "coverage", "cuda", "cupy", "dask", "jax", "np", "pycuda", "torch", "types")
# the generated reference of intrinsics documents them
FOR_KERNELS = ("pycu2c.ops.intrinsics", "pycu2c.device_library.half_pairs")
FRAMEWORKS = {"dask", "jax", "torch"}  # make test-frameworks runs the tests of these packages

ERRORS = {
    "GL08": "there is no docstring",
    "SS01": "there is no summary",
    "SS03": "the summary does not end with a period",
    "PR01": "parameters are not documented",
    "PR02": "documented parameters do not exist",
    "PR03": "parameters have another order",
    "PR04": "a parameter has no type",
    "PR07": "a parameter has no description",
    "PR10": "a space before the colon is missing",
    "RT01": "there is no section Returns",
    "RT03": "a returned value has no description",
    "YD01": "there is no section Yields",
}


def public_modules() -> Iterator[ModuleType]:
    yield pycu2c
    for name in PUBLIC:
        try:
            package = importlib.import_module(f"pycu2c.{name}")
        except ModuleNotFoundError:
            if name not in FRAMEWORKS:
                raise
            continue
        yield package
        for found in pkgutil.walk_packages(getattr(package, "__path__", ()), f"pycu2c.{name}."):
            if name not in FRAMEWORKS:
                yield importlib.import_module(found.name)


def public_names(module: ModuleType) -> Iterator[tuple[str, object]]:
    names = HOST_NAMES if module is cuda else getattr(module, "__all__", dir(module))
    for name in names:
        if not name.startswith("_"):
            yield f"{module.__name__}.{name}", getattr(module, name)


def is_ours(value: object) -> bool:
    kinds = (FunctionType, type, DeviceFunction)
    module = getattr(value, "__module__", "") or ""
    is_protocol = getattr(value, "_is_protocol", False)
    return (
        isinstance(value, kinds)
        and module.startswith("pycu2c")
        and not module.startswith(FOR_KERNELS)
        and not is_protocol
    )


def is_property(value: object) -> bool:
    return isinstance(value, property | cached_property)


def public_members(cls: type) -> Iterator[tuple[str, object]]:
    members: dict[str, object] = {}
    for owner in reversed(cls.__mro__):
        if owner.__module__.startswith("pycu2c."):
            overriding = {name: v for name, v in vars(owner).items() if v.__doc__}
            members = {**vars(owner), **members, **overriding}  # docstrings are inherited
    for name, value in members.items():
        member = getattr(value, "__func__", value)  # of static methods and class methods
        if isinstance(member, FunctionType) or is_property(member):
            if name == "__call__" or name[0] != "_":
                yield name, member


def returned_classes(value: object) -> Iterator[tuple[str, type]]:
    """The classes that the annotation of the result of a function names."""
    function = value
    for variant in (function, *get_overloads(function)) if inspect.isfunction(function) else ():
        text = str(getattr(variant, "__annotations__", {}).get("return", ""))
        for name in re.findall(r"\w+", text):
            found = getattr(function, "__globals__", {}).get(name)
            if is_ours(found) and isinstance(found, type) and not name.startswith("_"):
                yield f"{found.__module__}.{name}", found


def public_callables() -> dict[str, object]:
    """Return all functions, classes, methods and properties, by one of their names."""
    found: dict[int, tuple[str, object]] = {}
    pending = [pair for module in public_modules() for pair in public_names(module)]
    while pending:
        name, value = pending.pop(0)
        if id(value) in found or not (is_ours(value) or is_property(value)):
            continue
        found[id(value)] = name, value
        pending += returned_classes(value)
        if isinstance(value, type):
            pending += ((f"{name}.{member}", v) for member, v in public_members(value))
    return dict(found.values())


CALLABLES = public_callables()
RETURNED = {cls for value in CALLABLES.values() for _, cls in returned_classes(value)}


def violations(value: object) -> list[str]:
    """Return the errors of numpydoc for one callable."""
    if is_property(value):
        return [] if (value.__doc__ or "").strip().endswith(".") else ["SS03: no summary"]
    documented = value.python if isinstance(value, DeviceFunction) else value
    found = validate.validate(get_doc_object(documented))["errors"]
    waived: set[str] = set()
    text = inspect.getdoc(documented) or ""
    if isinstance(value, type) and (
        issubclass(value, BaseException)
        or value in RETURNED  # programs do not construct it
        or "__init__" not in vars(value)  # the base class documents it
        or "\nAttributes\n---" in text
    ):
        waived |= {"PR01"}
    if text.startswith("Return "):
        waived |= {"RT01"}  # the summary is about the result, the annotation has its type
    attributes = NumpyDocString(text)["Attributes"]
    found += [("PR04", f"{a.name} has no type") for a in attributes if not a.type]
    counted = ERRORS.keys() - waived
    return [f"{code}: {message}" for code, message in found if code in counted]


def test_callables_are_found() -> None:
    """The search covers each family, so that it cannot become empty unnoticed."""
    families = {
        "pycu2c": 20,
        "pycu2c.cuda": 150,
        "pycu2c.cupy": 30,
        "pycu2c.pycuda": 150,
    }
    for family, least in families.items():
        assert sum(name.startswith(f"{family}.") for name in CALLABLES) >= least, family
    for name in ("kernel", "device", "cuda.to_device", "cuda.Graph.launch"):
        assert f"pycu2c.{name}" in CALLABLES


def test_docstrings() -> None:
    found = {name: violations(value) for name, value in CALLABLES.items()}
    assert {name: errors for name, errors in found.items() if errors} == {}


def test_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_BACKEND", "cpu")
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for name, value in CALLABLES.items():
        for test in () if is_property(value) else finder.find(value, name, globs={}):
            runner.run(test)
    assert runner.tries > 20
    assert runner.failures == 0


@pytest.mark.parametrize("function", [pycu2c.kernel, cuda.c_function, cuda.jit])
def test_a_signature_names_all_options(function: Callable[..., object]) -> None:
    parameters = inspect.signature(function).parameters
    assert len(parameters) > 5
    assert "arguments" not in parameters
    if function is not cuda.c_function:
        assert set(OPTION_NAMES) <= parameters.keys()
