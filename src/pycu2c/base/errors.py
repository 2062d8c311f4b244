"""The base class of the errors of this package, and the reader of environment variables."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from pycu2c.base.lazy_imports import lazy_method

T = TypeVar("T")


class Error(Exception):
    """Base class of the errors that pycu2c defines; most derive from a class of Python, too."""

    _render_traceback_ = lazy_method("pycu2c.base.output.message_styles", "ipython_traceback")


class EnvironmentVariableError(Error, ValueError):
    """An environment variable has an invalid value; the message says which values are valid."""


def environment_setting(name: str, parse: Callable[[str], T], allowed: str, default: T) -> T:
    """Return the parsed value of an environment variable; the default if it is empty or not set.

    ``parse`` raises ValueError for values other than ``allowed``, which the error repeats. Raises
    EnvironmentVariableError.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        return parse(text)
    except ValueError:
        raise EnvironmentVariableError(
            f"the environment variable {name} is {text!r}: set it to {allowed}, or unset it"
        ) from None


def environment_switch(name: str, default: bool = False) -> bool:
    """Return the setting of an environment variable that is 0 or 1."""
    return environment_setting(name, lambda text: ("0", "1").index(text) == 1, "0 or 1", default)


def parse_count(text: str, least: int = 0) -> int:
    """Return a count of at least ``least``. Raises ValueError."""
    if not (text.isascii() and text.isdigit()) or int(text) < least:
        raise ValueError(text)
    return int(text)
