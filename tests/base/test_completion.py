"""What dir() and completion show of public modules: the names of the interface."""

from __future__ import annotations
import __future__

import importlib
from types import ModuleType

import pytest

MODULES = (
    "pycu2c",
    "pycu2c.cuda",
    "pycu2c.types",
    "pycu2c.cupy",
    "pycu2c.cupy.jit",
    "pycu2c.pycuda",
    "pycu2c.pycuda.driver",
    "pycu2c.pycuda.gpuarray",
    "pycu2c.np",
    "pycu2c.np.numpy_support",
    "pycu2c.core",
)
EXPORTED_MODULES = {"cuda", "types", "cg", "jit", "libdevice", "wmma", "random"}


@pytest.mark.parametrize("name", MODULES)
def test_only_names_of_the_interface_are_shown(name: str) -> None:
    module = importlib.import_module(name)
    # pytest adds names with @ to modules of the distribution of a plug-in
    shown = {n for n in dir(module) if not n.startswith(("__", "@"))}
    assert {n for n in shown if n.startswith("_")} == set()
    for n in shown:
        value = getattr(module, n)
        if isinstance(value, ModuleType):
            assert n in EXPORTED_MODULES or value.__name__.startswith(f"{name}.")
        assert not isinstance(value, __future__._Feature)
        assert getattr(value, "__module__", "") not in ("typing", "collections.abc")


def test_completion_in_ipython() -> None:
    """With jedi, which reads the source, and without."""
    pytest.importorskip("IPython")
    from IPython.core.completer import provisionalcompleter
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    for name in MODULES:
        shell.user_ns["module"] = module = importlib.import_module(name)
        for uses_jedi in (True, False):
            shell.Completer.use_jedi = uses_jedi
            with provisionalcompleter():
                found = [c.text for c in shell.Completer.completions("module.", 7)]
            assert {c.rpartition(".")[2] for c in found} <= set(dir(module)), name
