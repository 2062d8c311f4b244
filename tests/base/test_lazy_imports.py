"""Proxies of modules that are imported on first use."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

import pytest

from pycu2c.base.lazy_imports import lazy_module


@pytest.fixture
def name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that is not imported."""
    name = "pycu2c_module_of_a_test"
    (tmp_path / f"{name}.py").write_text("number = 1\n\ndef get():\n    return number\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def test_an_attribute_access_imports(name: str) -> None:
    lazy = lazy_module(name)
    assert name not in sys.modules
    assert lazy.number == 1
    assert name in sys.modules


def test_a_missing_attribute_is_reported_as_the_modules(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        _ = lazy_module(name).nothing


def test_setting_an_attribute_sets_it_in_the_module(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lazy = lazy_module(name)
    with monkeypatch.context() as patched:
        patched.setattr(lazy, "number", 2)
        assert sys.modules[name].get() == 2
    assert lazy.get() == 1
    with mock.patch.object(lazy, "number", 3):
        assert lazy.get() == 3
    assert lazy.get() == 1
