"""The command line: ``pycu2c emit`` shows what a kernel becomes, ``pycu2c explain`` what it
costs, ``pycu2c errors`` what an error means, ``pycu2c migrate`` what a program for numba becomes,
``pycu2c doctor`` what is here, ``pycu2c cache`` what is kept."""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NoReturn

import click

from pycu2c.base.diagnostics import RULES, CompileError, LaunchError
from pycu2c.base.records import dataclass
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import Signature
from pycu2c.cli.cache import cache
from pycu2c.cli.doctor import report
from pycu2c.cli.error_catalog import as_text
from pycu2c.cli.migrate import migrate
from pycu2c.codegen.multi_module import SeveralPrint
from pycu2c.codegen.statements import Comments
from pycu2c.compiler import Generated, generate_together
from pycu2c.declarations.signatures import BadSignature, parse_signature
from pycu2c.explain.notes import as_objects, shown
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.source_map import naming_origins
from pycu2c.runtime.launch_configuration import Extent, extent
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError

_TARGETS = ("cuda", "c", "c-resumable", "ir", "ast", "ptx", "sass", "cubin")


_ON_CPU = {"c": "cpu", "c-resumable": "cpu-resumable"}


@click.group()
@click.version_option(package_name="pycu2c")
def main() -> None:
    """Python kernels as CUDA C and C."""


main.add_command(cache)
main.add_command(migrate)


@main.command()
@click.argument("place", metavar="FILE[:KERNEL]")
@click.option("--target", type=click.Choice(_TARGETS), default="cuda", show_default=True)
@click.option("--signature", help='The parameters\' types: "float32[::1], float32[::1], int32".')
@click.option("--arch", default="sm_90", show_default=True, help="For ptx, sass and cubin.")
@click.option("--block", help="For c: the threads of a block, as 256 or 16,16; any if left out.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file; - is stdout.")
@click.option(
    "--comments",
    type=click.Choice(("none", "regions", "comments", "source")),
    default="regions",
    show_default=True,
    help="What of the Python goes into the C: nothing, the numbers of the lines that each of "
    "several loops over threads is from, its comments, or its lines.",
)
def emit(
    place: str,
    target: str,
    signature: str | None,
    arch: str,
    block: str | None,
    output: str | None,
    comments: Comments,
) -> None:
    """Print what the kernel in FILE becomes, or, of CUDA C, all kernels. Needs neither a GPU nor a
    driver."""
    try:
        path, name = _parted(place)
        kernels = _all_in(path)
        if name is None and len(kernels) > 1 and target == "cuda" and signature is None:
            pieces = [k.launcher.piece(_types(k, None)) for k in kernels.values()]
            _write(generate_together(pieces, comments), target, output)
            return
        kernel = _one_of(kernels, path, name)
        if target == "ast":
            _write(_syntax(kernel), target, output)
            return
        form = _Form(arch, comments, _block(kernel, block))
        _write(_generated(kernel, target, _types(kernel, signature), form), target, output)
    except CompileError as error:
        _refuse(error)
    except (BadSignature, LaunchError, SeveralPrint, ToolchainError) as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.argument("place", metavar="FILE[:KERNEL]")
@click.option("--signature", help='The parameters\' types: "float32[::1], float32[::1], int32".')
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text")
def explain(place: str, signature: str | None, form: str) -> None:
    """Say what the lines of the kernel in FILE cost on a GPU, and what removes each cost."""
    try:
        path, name = _parted(place)
        kernel = _one_of(_all_in(path), path, name)
        notes = kernel.launcher.notes(_types(kernel, signature))
    except CompileError as error:
        _refuse(error)
    except BadSignature as error:
        raise click.ClickException(str(error)) from None
    click.echo(json.dumps(as_objects(notes), indent=2) if form == "json" else shown(notes).rstrip())


@main.command()
@click.argument("code", required=False)
def errors(code: str | None) -> None:
    """Show programs that CODE is reported for, and the same programs cured; list all codes."""
    if code is not None and code not in RULES:
        hint = did_you_mean(code, RULES, "`pycu2c errors` lists all")
        raise click.BadParameter(f"there is no code `{code}`: {hint}")
    if code is not None:
        click.echo(as_text(code))
        return
    width = max(map(len, RULES))
    for name, rule in sorted(RULES.items()):
        click.echo(f"{name:{width}}  {rule}")


def _refuse(error: CompileError) -> NoReturn:
    click.echo(f"{error}\n\n`pycu2c errors {error.code}` shows an example and its cure.", err=True)
    sys.exit(1)


@main.command()
def doctor() -> None:
    """Say what was found here (compiler, NVRTC, driver, devices, cache), and what is missing."""
    lines, complete = report()
    for line in lines:
        click.echo(line)
    sys.exit(0 if complete else 1)


# ---- finding the kernel ------------------------------------------------------------------------


def _parted(place: str) -> tuple[Path, str | None]:
    """``FILE:KERNEL``; a Windows drive is no kernel."""
    if Path(place).exists():
        return Path(place), None
    file, _, name = place.rpartition(":")
    is_name = all(part.isidentifier() for part in name.split("."))
    if file and is_name and Path(file).exists():
        return Path(file), name
    if file and Path(file).exists():
        raise click.ClickException(
            f"{name!r} is no name: write {file}:kernel or {file}:Class.kernel"
        )
    raise click.ClickException(f"there is no file {file if file and is_name else place}")


def _all_in(path: Path) -> dict[str, Kernel[Any]]:
    kernels = dict(_kernels_in(vars(_imported(path))))
    if not kernels:
        raise click.ClickException(f"{path} has no kernel: decorate a function with @kernel")
    return kernels


def _one_of(kernels: Mapping[str, Kernel[Any]], path: Path, name: str | None) -> Kernel[Any]:
    names = ", ".join(kernels)
    if name is None and len(kernels) > 1:
        raise click.ClickException(f"{path} has several kernels; write {path}:NAME ({names})")
    if name is not None and name not in kernels:
        raise click.ClickException(f"{path} has no kernel {name}; it has {names}")
    return kernels[name] if name else next(iter(kernels.values()))


def _kernels_in(names: Mapping[str, object], owner: str = "") -> Iterator[tuple[str, Kernel[Any]]]:
    """The kernels of a module, and of its classes as ``Class.name``."""
    for name, found in names.items():
        inner = found.__func__ if isinstance(found, staticmethod) else found
        if isinstance(inner, Kernel):
            yield owner + name, inner
        elif isinstance(found, type) and found.__module__ == names["__name__"]:
            inside = {**vars(found), "__name__": found.__module__}
            yield from _kernels_in(inside, f"{owner}{name}.")


class _AsItIsNow(SourceFileLoader):
    """Python's own takes bytecode for a file's if size and second of its last change are."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _imported(path: Path) -> ModuleType:
    """Run the file as a module; what it imports from beside it is found."""
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise click.ClickException(f"{path} is not a Python file")
    loader = spec.loader = _AsItIsNow(spec.loader.name, spec.loader.path)
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


def _types(kernel: Kernel[Any], text: str | None) -> Signature:
    chosen = parse_signature(text) if text else kernel.signature
    if chosen is None:
        names = ", ".join(kernel.launcher.parameters)
        raise click.ClickException(
            f"{kernel.name} has no types: give --signature, one type for each of ({names}), "
            'such as "float32[::1], int32"'
        )
    return chosen


# ---- what is printed ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Form:
    """What is asked of the text: the architecture, its comments, the shape of blocks."""

    arch: str
    comments: Comments
    block: Extent | None


def _block(kernel: Kernel[Any], text: str | None) -> Extent | None:
    """``16,16``, or what the kernel declares."""
    if text is None:
        return kernel.block
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise click.ClickException(f"--block is {text!r}; write 256 or 16,16") from None
    return extent(numbers, "block", kernel.name)


def _generated(kernel: Kernel[Any], target: str, signature: Signature, form: _Form) -> str | bytes:
    if target == "ir":
        return kernel.inspect("ir", signature)
    if target == "sass":
        return kernel.inspect("sass", signature, arch=form.arch)
    language, arch = _ON_CPU.get(target, "cuda"), form.arch

    def made(comments: Comments) -> Generated:
        return kernel.launcher.generated(language, signature, comments, form.block)

    found = made(form.comments)
    if target not in ("ptx", "cubin"):
        return found.text
    options = kernel.options.with_links(found.links)
    kind: nvrtc.BinaryKind = "ptx" if target == "ptx" else "cubin"
    with naming_origins(lambda comments: made(comments).text):
        return nvrtc.compile(found.text, found.entry, arch, kind=kind, options=options).data


def _syntax(kernel: Kernel[Any]) -> str:
    """The syntax tree as astor prints it; Python's own form where astor is too old for it."""
    try:
        with warnings.catch_warnings():  # astor names classes that Python is leaving behind
            warnings.simplefilter("ignore", DeprecationWarning)
            import astor

            text: str = astor.dump_tree(kernel.source.tree)
    except Exception:
        return ast.dump(kernel.source.tree, indent=2)
    return text + "\n"


def _write(content: str | bytes, target: str, output: str | None) -> None:
    if output and output != "-":
        data = content if isinstance(content, bytes) else content.encode()
        try:
            Path(output).write_bytes(data)
        except OSError as error:
            raise click.ClickException(f"cannot write {output}: {error.strerror}") from None
    elif target == "cubin":
        if sys.stdout.isatty():
            raise click.ClickException("a cubin is binary: give -o FILE")
        assert isinstance(content, bytes)
        sys.stdout.buffer.write(content)
    else:
        text = content.decode() if isinstance(content, bytes) else content
        click.echo(_coloured(text, target) if sys.stdout.isatty() else text, nl=False)


def _coloured(text: str, target: str) -> str:
    """Through Pygments, if it is installed."""
    if target not in ("cuda", *_ON_CPU):
        return text
    try:
        pygments: Any = importlib.import_module("pygments")
        lexers: Any = importlib.import_module("pygments.lexers")
        formatters: Any = importlib.import_module("pygments.formatters")
    except ImportError:
        return text
    lexer = lexers.get_lexer_by_name("cuda" if target == "cuda" else "c")
    return str(pygments.highlight(text, lexer, formatters.TerminalFormatter()))
