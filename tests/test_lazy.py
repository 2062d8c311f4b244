"""Stand-ins for modules that are imported when something of them is first used."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

import pytest

from pycu2c.base.lazy_imports import is_imported, lazy_module, lazy_submodules


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module that nobody has imported."""
    name = "pycu2c_room_of_a_test"
    (tmp_path / f"{name}.py").write_text("number = 1\n\ndef get():\n    return number\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def test_a_look_imports(room: str) -> None:
    lazy = lazy_module(room)
    assert not is_imported(lazy)
    assert lazy.number == 1
    assert is_imported(lazy)


def test_a_missing_name_is_the_modules(room: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{room}' has no attribute 'nothing'"):
        _ = lazy_module(room).nothing


def test_rooms_of_a_package_are_no_private_names() -> None:
    with pytest.raises(AttributeError, match="has no attribute __path_of_nothing__"):
        lazy_submodules("pycu2c.transforms")("__path_of_nothing__")


def test_what_is_set_is_set_in_the_module(room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = lazy_module(room)
    with monkeypatch.context() as patched:
        patched.setattr(lazy, "number", 2)
        assert sys.modules[room].get() == 2
    assert lazy.get() == 1
    with mock.patch.object(lazy, "number", 3):
        assert lazy.get() == 3
    assert lazy.get() == 1
