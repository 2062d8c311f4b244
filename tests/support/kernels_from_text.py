"""Import kernels from text. A kernel is compiled from its source file, so each text gets one."""

from __future__ import annotations

import importlib.util
import itertools
import textwrap
from pathlib import Path
from types import ModuleType

_COUNT = itertools.count()


def module_from(text: str, folder: Path) -> ModuleType:
    """Import ``text`` as a module of its own."""
    path = folder / f"kernels_{next(_COUNT)}.py"
    path.write_text(textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
