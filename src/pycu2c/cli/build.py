"""Implement ``pycu2c build``: make a library of kernels."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from pycu2c.aot.bindings import FRAMEWORKS
from pycu2c.aot.build_settings import DEFAULT_ARCHS, DEFAULT_BINDINGS, THREADS, BuildSettings
from pycu2c.aot.compilation import compile_library
from pycu2c.aot.exported_library import ExportedLibrary, KernelRequest
from pycu2c.aot.images import compile_images
from pycu2c.aot.library_files import library_files
from pycu2c.aot.output_folder import Files, differences, non_generated_files, write_files
from pycu2c.aot.python_kernels import export_python
from pycu2c.base.types import Signature
from pycu2c.cli.kernel_file import load_kernels, parse_block, parse_location, select_kernel
from pycu2c.codegen.reserved_names import is_reserved
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel

TARGETS = ("cpu", "cuda")
_OTHER_LIBRARIES = frozenset(
    ("c", "m", "dl", "rt", "pthread", "std", "pycu2c", "numpy", "torch", "jax", "tvm_ffi")
)


class _Names(click.ParamType[tuple[str, ...]]):
    """Names that are separated by commas: those of a sequence, in its order, or any."""

    name = "names"

    def __init__(self, choices: Sequence[str] = ()) -> None:
        self._choices = choices

    def convert(self, value: str, param: object, context: object) -> tuple[str, ...]:
        names = tuple(name.strip() for name in value.split(","))
        for name in names:
            if self._choices and name not in self._choices:
                self.fail(f"{name!r} is none of {', '.join(self._choices)}")
        return tuple(name for name in self._choices if name in names) or names


@click.command()
@click.argument("locations", metavar="FILE[:KERNEL]...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder of the library.",
)
@click.option("--name", help="The name of the library; by default that of the file.")
@click.option(
    "--signature",
    "signatures",
    multiple=True,
    metavar="TYPES",
    help='Types of parameters, "float32[::1], float32", or of one kernel, "scale=float32[::1], '
    'float32"; may be given several times.',
)
@click.option(
    "--block",
    "blocks",
    multiple=True,
    metavar="X,Y,Z",
    help="A block shape to specialize CPU code for, or that of one kernel, scale=X,Y,Z; launches "
    "with other shapes are slower.",
)
@click.option("--targets", type=_Names(TARGETS), default=",".join(TARGETS), show_default=True)
@click.option(
    "--arch",
    "archs",
    type=_Names(),
    default=",".join(DEFAULT_ARCHS),
    show_default=True,
    help="The architectures of GPUs. Later ones run PTX for the lowest.",
)
@click.option(
    "--bindings",
    type=_Names((*DEFAULT_BINDINGS, *FRAMEWORKS)),
    default=",".join(DEFAULT_BINDINGS),
    show_default=True,
    help="The interfaces of the library; jax and tvm-ffi, too, if these are installed.",
)
@click.option(
    "--threads",
    type=click.Choice(tuple(THREADS)),
    default="pool",
    show_default=True,
    help="How launches on the CPU use its cores.",
)
@click.option(
    "--cpu-flags",
    default="",
    callback=lambda _context, _parameter, flags: tuple(flags.split()),
    help="Compiler flags that select the instruction set, such as -march=native; by default "
    "x86-64-v3, and AVX-512 in addition.",
)
@click.option("--static", is_flag=True, help="Make libNAME.a in place of libNAME.so.")
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing, and exit with status 1 if a file differs from that in the folder.",
)
def build(
    locations: tuple[str, ...],
    output: Path,
    name: str | None,
    signatures: tuple[str, ...],
    blocks: tuple[str, ...],
    targets: tuple[str, ...],
    check: bool,
    **settings: Any,
) -> None:
    """Build a library of the kernels in FILE for programs in C, C++ and Python.

    Requires neither a GPU nor a driver; without NVRTC, pass --targets cpu.
    """
    library_name = _checked_name(parse_location(locations[0])[0].stem if name is None else name)
    kernels = kernels_at(locations)
    requests = list(requests_of(kernels, signatures, blocks))
    library = export_python(library_name, requests, targets)
    files = _files(library, BuildSettings(**settings))
    if not check:
        _write(output, files)
        click.echo(f"{output}: {len(files)} files, {', '.join(k.name for k in library.kernels)}")
        return
    found = list(differences(output, files))
    for line in found:
        click.echo(line)
    sys.exit(bool(found))


def _files(library: ExportedLibrary, settings: BuildSettings) -> Files:
    images = compile_images(library, settings.archs)
    files = library_files(library, images, settings)
    return {**files, **compile_library(library, files, settings)}


def _write(output: Path, files: Files) -> None:
    others = list(non_generated_files(output, files))
    if others:
        raise click.ClickException(
            f"{', '.join(map(str, others))}: not generated by pycu2c; pass another folder with -o"
        )
    try:
        write_files(output, files)
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from None


def _checked_name(name: str) -> str:
    """Return the name of a library. Raises ClickException if C, C++ or Python reject it."""
    if not re.fullmatch(r"[a-z]\w*", name, re.ASCII | re.IGNORECASE):
        reason = "it must begin with a letter and contain only letters, digits and _"
    elif is_reserved(name) or keyword.iskeyword(name):
        reason = "C, C++ or Python reserve it"
    elif name in _OTHER_LIBRARIES:
        reason = "another library has this name"
    else:
        return name
    raise click.ClickException(
        f"{name!r} is not a valid library name: {reason}; pass another --name"
    )


def kernels_at(locations: Sequence[str]) -> dict[str, Kernel[object]]:
    """Return the kernels at all locations, by their names in C."""
    found: dict[str, Kernel[object]] = {}
    for location in locations:
        path, name = parse_location(location)
        objects = load_kernels(path)
        chosen = [select_kernel(objects, path, name)] if name else list(objects.values())
        for kernel in chosen:
            if found.setdefault(kernel.name, kernel) != kernel:
                raise click.ClickException(
                    f"there are two kernels named {kernel.name}: choose one with {path}:NAME, or "
                    "set __name__ of the functions before kernel(function)"
                )
    return found


def requests_of(
    kernels: Mapping[str, Kernel[object]], signatures: Sequence[str], blocks: Sequence[str]
) -> Iterator[KernelRequest]:
    """Yield a request for each kernel, with the options of the command line or its own ones."""
    given = _by_kernel(kernels, "signature", signatures)
    shapes = _by_kernel(kernels, "block", blocks)
    untyped: list[str] = []
    for name, kernel in kernels.items():
        chosen: Sequence[Signature] = [parse_signature(text) for text in given[name]]
        shape = [parse_block(text, name) for text in shapes[name]]
        chosen = chosen or kernel.declared
        if not chosen:
            names = ", ".join(kernel.launcher.parameters)
            untyped.append(
                f"{name} has no signature: pass --signature '{name}=...', one type for each of "
                f"({names})"
            )
        yield KernelRequest(kernel, chosen, shape[-1] if shape else kernel.block)
    if untyped:
        raise click.ClickException("\n".join(untyped) + ', such as "float32[::1], int32"')


def _by_kernel(
    kernels: Mapping[str, Kernel[object]], option: str, texts: Sequence[str]
) -> dict[str, list[str]]:
    """Return the values of an option ``[KERNEL=]VALUE``, by kernel."""
    given: dict[str, list[str]] = {name: [] for name in kernels}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator and len(kernels) > 1:
            raise click.ClickException(
                f"write --{option} KERNEL=... for one of {', '.join(kernels)}"
            )
        if not separator:
            name, value = next(iter(kernels)), text
        if name not in given:
            raise click.ClickException(
                f"there is no kernel {name}; the kernels are {', '.join(kernels)}"
            )
        given[name].append(value)
    return given
