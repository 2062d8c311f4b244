"""Discovery and flags of the C++ compiler, and the error without one."""

from __future__ import annotations

import pytest

from pycu2c.toolchain.cc import cxx, discovery, elf_symbols
from pycu2c.toolchain.toolchain_errors import ToolchainError

TEXT = """extern "C" __attribute__((visibility("default"))) int numbers[5];
int numbers[5] = {1};
extern "C" __attribute__((visibility("default"))) int twice(int x) { return 2 * x; }
"""


def test_variables_of_a_library_are_found() -> None:
    result = elf_symbols.object_symbol_sizes(cxx.compile(TEXT, "numbers", ("-std=c++17",)).data)
    assert result["numbers"] == 20
    assert "twice" not in result
    assert elf_symbols.object_symbol_sizes(b"no ELF") == {}


def test_a_text_is_compiled_once() -> None:
    first, second = (cxx.compile(TEXT, "numbers", ("-std=c++17",)) for _ in range(2))
    assert first.path == second.path
    assert cxx.compile(TEXT, "numbers", ("-std=c++17",), ("an included file",)).path != first.path


def test_a_rejection_shows_the_compilers_messages() -> None:
    with pytest.raises(cxx.CxxCompileError) as result:
        cxx.compile("int f() { return missing; }", "f", ())
    assert "missing" in result.value.log


@pytest.mark.parametrize(
    ("chosen", "path", "said"),
    [
        ("no-such-compiler", "/usr/bin", "PYCU2C_CXX is 'no-such-compiler'"),
        ("", "/nowhere", "sudo apt install clang"),
    ],
)
def test_a_missing_compiler_is_reported(
    chosen: str, path: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PYCU2C_CXX", chosen)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", path)
    discovery._search.cache_clear()
    with pytest.raises(ToolchainError, match=said):
        cxx.find()
    discovery._search.cache_clear()
