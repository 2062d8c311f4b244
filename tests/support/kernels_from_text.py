"""Import kernels from text. A kernel is compiled from its source file, so each text gets one."""

from __future__ import annotations

import importlib.util
import itertools
import re
import textwrap
from pathlib import Path
from types import ModuleType

_COUNT = itertools.count()


def python_blocks(page: Path) -> str:
    """Return the Python of a document, which is one program."""
    return "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.S))


def module_from(text: str, folder: Path) -> ModuleType:
    """Import ``text`` as a module of its own."""
    path = folder / f"kernels_{next(_COUNT)}.py"
    path.write_text(textwrap.dedent(text))
    return module_from_file(path)


def module_from_file(path: Path) -> ModuleType:
    """Import a file as a module of its own."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
