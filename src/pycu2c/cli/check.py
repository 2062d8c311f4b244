"""Implement ``pycu2c check``: run a program with checked launches, and print their findings."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import IO, Any

import click

from pycu2c.base.diagnostics import CompileError
from pycu2c.base.output.message_styles import for_stream
from pycu2c.cli.diagnostic_formats import FORMATS, compile_error_objects, finding_objects
from pycu2c.cli.user_program import program_state, run_program
from pycu2c.declarations.options import CHECK_GROUPS, OptionError, parse_options
from pycu2c.runtime.findings import CheckError, Finding, FindingRecorder


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("program", metavar="SCRIPT [ARGS]…", nargs=-1, required=True)
@click.option("-m", "is_module", is_flag=True, help="SCRIPT is a module, as for python -m.")
@click.option("--backend", type=click.Choice(("cpu", "cuda")), help="Where kernels run.")
@click.option("--checks", metavar="GROUPS", help=f"Some of {','.join(CHECK_GROUPS)}.")
@click.option("--format", "output_format", type=click.Choice(("text", *FORMATS)), default="text")
@click.option(
    "-o",
    "--output",
    type=click.File("w", encoding="utf-8", lazy=False),
    help="Write the findings to this file instead of stdout. Without it, JSON and SARIF move the "
    "program's output to stderr.",
)
def check(
    program: tuple[str, ...],
    is_module: bool,
    backend: str | None,
    checks: str | None,
    **report: Any,
) -> None:
    """Run SCRIPT with checks in all kernels, and print the findings.

    The exit code is 1 if there are findings, also if the program catches their CheckError, 2 if the
    program fails otherwise, and else 0.
    """
    if not is_module and not Path(program[0]).exists():
        raise click.UsageError(f"there is no file {program[0]}")
    environment = {"PYCU2C_CHECK": _parse_checks(checks)}
    if backend is not None:
        environment["PYCU2C_BACKEND"] = backend
    is_stdout_free = report["output_format"] == "text" or report["output"] is not None
    stdout = sys.stdout if is_stdout_free else sys.stderr
    with (
        FindingRecorder() as recorder,
        program_state(program, is_module, environment),
        contextlib.redirect_stdout(stdout),
    ):
        error = run_program(program[0], is_module)
    if isinstance(error, CheckError):
        recorder.add(error.findings)  # of another process
    findings = recorder.take()
    _write_report(findings, error if isinstance(error, CompileError) else None, **report)
    has_failed = not (error is None or (isinstance(error, SystemExit) and not error.code))
    sys.exit(1 if findings else 2 if has_failed else 0)


def _parse_checks(checks: str | None) -> str:
    """Return the value of ``PYCU2C_CHECK``."""
    try:
        parse_options({"check": checks or True})
    except OptionError:
        groups = ", ".join(CHECK_GROUPS)
        raise click.BadParameter(
            f"some of {groups}, not {checks!r}", param_hint="--checks"
        ) from None
    return checks or "1"


def _write_report(
    findings: tuple[Finding, ...],
    compile_error: CompileError | None,
    output_format: str,
    output: IO[str] | None,
) -> None:
    if output_format in FORMATS:
        errors = compile_error_objects(compile_error) if compile_error else []
        text = FORMATS[output_format]([*errors, *finding_objects(findings)])
    else:
        count = f"{len(findings) or 'no'} finding{'' if len(findings) == 1 else 's'}"
        errors_as_text = [str(compile_error)] if compile_error else []
        text = "\n\n".join([*errors_as_text, *map(str, findings), count])
        text = for_stream(text, output or sys.stdout)
    click.echo(text, file=output, color=True)
