"""Run a program of the user in this process, as Python would run it."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from pycu2c.base.diagnostics import CompileError
from pycu2c.runtime.findings import CheckError


@contextlib.contextmanager
def program_state(
    program: tuple[str, ...], is_module: bool, environment: Mapping[str, str]
) -> Iterator[None]:
    """Set what a program sees of its process, and restore it."""
    folder = os.getcwd() if is_module else str(Path(program[0]).resolve().parent)
    saved = sys.argv, sys.path, os.environ.copy()
    sys.argv, sys.path = list(program), [folder, *sys.path[1:]]
    os.environ.update(environment)
    try:
        with contextlib.chdir("."):
            yield
    finally:
        sys.argv, sys.path, variables = saved
        os.environ.clear()
        os.environ.update(variables)


def run_program(name: str, is_module: bool) -> BaseException | None:
    """Run a script or module as the main program; return the exception that ends it."""
    try:
        if is_module:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(name, run_name="__main__")
    except (CheckError, CompileError) as error:
        return error
    except SystemExit as error:
        if isinstance(error.code, str):
            click.echo(error.code, err=True)
        return error
    except BaseException as error:
        traceback = error.__traceback__
        while traceback and traceback.tb_frame.f_code.co_filename in _OWN_FILES:
            traceback = traceback.tb_next
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        return error
    return None


_OWN_FILES = (__file__, runpy.__file__, "<frozen runpy>")
