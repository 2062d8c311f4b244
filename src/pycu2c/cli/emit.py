"""Implement ``pycu2c emit``: print the generated code or the IR of a kernel."""

from __future__ import annotations

import ast
import importlib
import sys
import warnings
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

import click

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, field
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import Signature
from pycu2c.cli.diagnostic_formats import FORMATS, set_error_format
from pycu2c.cli.kernel_file import (
    load_kernels,
    parse_block,
    parse_location,
    select_kernel,
    signature_of,
)
from pycu2c.codegen.statements import Comments
from pycu2c.compiler import build_module, generate_file, lower
from pycu2c.ir.nodes import Module
from pycu2c.ir.printer import print_module
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.kernel_compiler import TARGETS_BY_LANGUAGE
from pycu2c.pipeline import FRONTEND, TARGETS
from pycu2c.runtime.launch_configuration import Extent

_TARGETS = (*TARGETS_BY_LANGUAGE, "ir", "ast", "ptx", "sass", "cubin")


@click.command()
@click.argument("location", metavar="FILE[:KERNEL]")
@click.option("--target", type=click.Choice(_TARGETS), default="cuda", show_default=True)
@click.option("--signature", help='The parameters\' types: "float32[::1], float32[::1], int32".')
@click.option("--arch", default="sm_90", show_default=True, help="For ptx, sass and cubin.")
@click.option("--block", help="For c: the block shape, such as 256 or 16,16; by default any.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="A file; - is stdout.")
@click.option(
    "--comments",
    type=click.Choice(("none", "regions", "comments", "source")),
    default="regions",
    show_default=True,
    help="The Python text in comments of the C code: none, the line of each thread loop, the "
    "comments, or all lines.",
)
@click.option(
    "--print-after",
    "pass_name",
    metavar="PASS",
    help="Print the IR after a pass, or after `all`, instead of the code.",
)
@click.option("--diff", is_flag=True, help="With --print-after: what the pass has changed.")
@click.option(
    "--error-format",
    type=click.Choice(("text", *FORMATS)),
    default="text",
    help="The format of compile errors: text on stderr, the others on stdout.",
)
def emit(
    location: str,
    output: str | None,
    pass_name: str | None,
    diff: bool,
    **options: Any,
) -> None:
    """Print the generated code or the IR of the kernel in FILE; with CUDA C, of all kernels.

    Requires neither a GPU nor a driver.
    """
    set_error_format(options.pop("error_format"))
    request = _EmitOptions(**options)
    path, name = parse_location(location)
    kernels = load_kernels(path)
    is_file = name is None and len(kernels) > 1 and pass_name is None
    if is_file and request.target == "cuda" and not request.signature:
        _write(_cuda_file(kernels, request.comments), "cuda", output)
        return
    kernel = select_kernel(kernels, path, name)
    if pass_name is None:
        _write(_generate(kernel, request), request.target, output)
        return
    what = request.target, request.signature_of(kernel), request.block_of(kernel)
    _write(print_passes(kernel, *what, PassPrinter(pass_name, diff)), "ir", output)


@dataclass(frozen=True, slots=True)
class _EmitOptions:
    """The options of the generated text."""

    target: str
    signature: str | None
    arch: str
    block: str | None
    comments: Comments

    def signature_of(self, kernel: Kernel[Any]) -> Signature:
        return signature_of(kernel, self.signature)

    def block_of(self, kernel: Kernel[Any]) -> Extent | None:
        """Parse a block shape such as ``16,16``; by default the shape that the kernel declares."""
        if self.block is None:
            return kernel.block
        return parse_block(self.block, kernel.name)


def _cuda_file(kernels: Mapping[str, Kernel[Any]], comments: Comments) -> str:
    """Return one file with several kernels."""
    modules = [k.launcher.compiler.cuda_module(signature_of(k, None)) for k in kernels.values()]
    return generate_file(modules, comments)


def _generate(kernel: Kernel[Any], request: _EmitOptions) -> str | bytes:
    if request.target == "ast":
        return _syntax_tree(kernel)
    signature, block = request.signature_of(kernel), request.block_of(kernel)
    compiler = kernel.launcher.compiler
    match request.target:
        case "ir" | "sass" as language:
            return compiler.text(language, signature, arch=request.arch)
        case "ptx" | "cubin" as kind:
            return compiler.gpu_code(kind, signature, request.arch, request.comments)
        case language:
            target = TARGETS_BY_LANGUAGE[language]
            return compiler.generate(target, signature, request.comments, block).text


def _syntax_tree(kernel: Kernel[Any]) -> str:
    """Return the syntax tree as astor prints it; with ``ast.dump`` if astor does not support it."""
    try:
        with warnings.catch_warnings():  # astor uses deprecated classes
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
        click.echo(_highlight(text, target) if sys.stdout.isatty() else text, nl=False)


def _highlight(text: str, target: str) -> str:
    """Highlight the syntax with Pygments, if it is installed."""
    if target not in TARGETS_BY_LANGUAGE:
        return text
    try:
        pygments: Any = importlib.import_module("pygments")
        lexers: Any = importlib.import_module("pygments.lexers")
        formatters: Any = importlib.import_module("pygments.formatters")
    except ImportError:
        return text
    lexer = lexers.get_lexer_by_name("cuda" if target == "cuda" else "c")
    return str(pygments.highlight(text, lexer, formatters.TerminalFormatter()))


# ---- the IR after passes -----------------------------------------------------------------------

ALL = "all"


@dataclass(slots=True)
class PassPrinter:
    """Prints the IR after the pass ``name`` or after all; with ``diff``, what the pass changed."""

    name: str
    diff: bool
    parts: list[str] = field(default_factory=list)

    def observe(self, name: str, before: Module, after: Module) -> None:
        if self.name not in (name, ALL) or before is after:
            return
        old, new = print_module(before), print_module(after)
        if old == new:
            return
        if self.diff:
            names = f"before {name}", f"after {name}"
            lines = unified_diff(old.splitlines(), new.splitlines(), *names, lineterm="")
            self.parts.append("\n".join(lines) + "\n")
        else:
            self.parts.append(f"# after {name}\n{new}")

    def text(self) -> str:
        return "\n".join(self.parts) or f"# {self.name} does not change this kernel\n"


def print_passes(
    kernel: Kernel[Any],
    target: str,
    signature: Signature,
    block: Extent | None,
    printer: PassPrinter,
) -> str:
    """Compile a kernel; return the IR after passes. Raises ClickException, CompileError."""
    if target not in TARGETS_BY_LANGUAGE:
        languages = ", ".join(TARGETS_BY_LANGUAGE)
        raise click.ClickException(f"--print-after is for --target {languages}")
    selected = TARGETS[TARGETS_BY_LANGUAGE[target]]
    names = [step.name for step in (*FRONTEND, *selected.passes)]
    if printer.name not in (ALL, *names):
        hint = did_you_mean(printer.name, names, f"there are {', '.join(names)}")
        raise click.ClickException(f"{target} has no pass `{printer.name}`: {hint}")
    built = build_module(kernel.source, signature, kernel.options, printer.observe)
    assumptions = LaunchAssumptions(index32_safe=True, block=None if target == "cuda" else block)
    lower(built.module, selected, assumptions, kernel.options, printer.observe)
    return printer.text()
