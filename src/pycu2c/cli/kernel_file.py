"""Load the kernels of a Python file named on the command line."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import click

from pycu2c.base.diagnostics import CompileError
from pycu2c.base.types import Signature
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.launch_configuration import Extent, extent


def parse_location(location: str) -> tuple[Path, str | None]:
    """Split ``FILE:KERNEL``; the colon of a Windows drive is part of the file name."""
    if Path(location).exists():
        return Path(location), None
    file, _, name = location.rpartition(":")
    is_name = all(part.isidentifier() for part in name.split("."))
    if file and is_name and Path(file).exists():
        return Path(file), name
    if file and Path(file).exists():
        raise click.ClickException(
            f"{name!r} is not a name: write {file}:kernel or {file}:Class.kernel"
        )
    raise click.ClickException(f"there is no file {file if file and is_name else location}")


def kernel_at(location: str) -> Kernel[Any]:
    """Return the kernel at ``FILE:KERNEL``, or the only one of a file."""
    path, name = parse_location(location)
    return select_kernel(load_kernels(path), path, name)


def load_kernels(path: Path) -> dict[str, Kernel[Any]]:
    """Return the kernels of a file by name."""
    kernels = dict(_kernels_in(vars(_import_file(path))))
    if not kernels:
        raise click.ClickException(
            f"{path} has no kernel at its top level: decorate a function with @kernel, or give a "
            "kernel that a function makes a name there, k = make_kernel(3)"
        )
    return kernels


def select_kernel(kernels: Mapping[str, Kernel[Any]], path: Path, name: str | None) -> Kernel[Any]:
    """Return the named kernel, or the only one."""
    names = ", ".join(kernels)
    if name is None and len(kernels) > 1:
        raise click.ClickException(f"{path} has several kernels; write {path}:NAME ({names})")
    if name is not None and name not in kernels:
        raise click.ClickException(f"{path} has no kernel {name}; it has {names}")
    return kernels[name] if name else next(iter(kernels.values()))


def _kernels_in(names: Mapping[str, object], owner: str = "") -> Iterator[tuple[str, Kernel[Any]]]:
    """Yield the kernels of a module, and those of its classes as ``Class.name``."""
    for name, value in names.items():
        function = value.__func__ if isinstance(value, staticmethod) else value
        if isinstance(function, Kernel):
            yield owner + name, function
        elif isinstance(value, type) and value.__module__ == names["__name__"]:
            inside = {**vars(value), "__name__": value.__module__}
            yield from _kernels_in(inside, f"{owner}{name}.")


class _UncachedLoader(SourceFileLoader):
    """Loads source without the bytecode cache, which misses changes within one second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _import_file(path: Path) -> ModuleType:
    """Run the file as a module, with its directory on the import path."""
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise click.ClickException(f"{path} is not a Python file")
    loader = spec.loader = _UncachedLoader(spec.loader.name, spec.loader.path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        loader.exec_module(module)
    except CompileError:
        raise
    except Exception as error:
        raise click.ClickException(
            f"{path} fails when it is imported: {type(error).__name__}: {error}"
        ) from error
    finally:
        sys.path.pop(0)
    return module


def signature_of(kernel: Kernel[Any], text: str | None) -> Signature:
    """Return the signature from the command line or the declaration."""
    chosen = parse_signature(text) if text else kernel.signature
    if chosen is None:
        names = ", ".join(kernel.launcher.parameters)
        raise click.ClickException(
            f"{kernel.name} has no signature: pass --signature, one type for each of ({names}), "
            'such as "float32[::1], int32"'
        )
    return chosen


def parse_block(text: str, kernel: str) -> Extent:
    """Parse the shape of the option ``--block``, such as ``16,16``. Raises LaunchError."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.ClickException(f"--block is {text!r}; write 256 or 16,16") from None
    return extent(numbers, "block", kernel)
