"""Implement ``cuda.c_function``, ``cuda.ptx_function`` and ``cuda.declare_device``."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, get_args, overload

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.external_code import CodeLine, Dialect, DialectCode, ExternalCode
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Source, is_stub
from pycu2c.csyntax.keywords import KEYWORDS
from pycu2c.declarations.link_files import Link, links_for_target, parse_links
from pycu2c.declarations.overloads import with_last_overload_signature
from pycu2c.declarations.signatures import parse_signature
from pycu2c.inline_c import external_functions, ptx
from pycu2c.inline_c.external_functions import Abi
from pycu2c.inline_c.source_lines import lines_of
from pycu2c.kernels.kernel import DeviceFunction, LinkLike

P = ParamSpec("P")
R = TypeVar("R")


class CFunction(DeviceFunction[P, R]):
    """A device function with a C body in kernels. On the host, it runs its Python body, if any."""

    def __init__(self, source: Source, external_code: Callable[[Source], ExternalCode]) -> None:
        functools.update_wrapper(self, source.python)
        self.python = source.python
        _check_parameters(source)
        self.__pycu2c_device__ = replace(source, external_code=external_code(source))

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run the Python function.

        Parameters
        ----------
        *arguments, **named : object
            The arguments of the function.

        Returns
        -------
        object
            Its result.
        """
        external_code = self.__pycu2c_device__.external_code
        if external_code is not None and not external_code.has_python_body:
            name = self.__pycu2c_device__.name
            raise TypeError(f"{name} has only a C body, which kernels call: it has no Python body")
        return super().__call__(*arguments, **named)

    def __repr__(self) -> str:
        return f"<C function {self.__pycu2c_device__.name}>"


@dataclass(frozen=True, slots=True)
class _InlineC:
    """The texts and files of a ``c_function``."""

    text: str | None
    cuda: str | None
    cpu: str | None
    headers: str
    preamble: str
    links: tuple[Link, ...]
    pure: bool

    def external_code(self, source: Source) -> ExternalCode:
        """Return the code of a function in each dialect."""
        has_python_body = not is_stub(source.tree)
        codes = [self._code(dialect, source, has_python_body) for dialect in get_args(Dialect)]
        return ExternalCode(tuple(code for code in codes if code), self.pure, has_python_body)

    def _code(self, dialect: Dialect, source: Source, has_python_body: bool) -> DialectCode | None:
        """Return the code in one dialect: the text, or a call of a linked function."""
        text, files = self._text(dialect, has_python_body), links_for_target(self.links, dialect)
        if dialect == "c" and has_python_body and all(file.endswith(".cu") for file in files):
            files = ()  # the Python body comes before CUDA C
        if text is not None:
            headers = lines_of(self.headers, source) if dialect == "cuda" else ()
            preamble = (*headers, *lines_of(self.preamble, source))
            return DialectCode(dialect, _body(text, source), preamble, files)
        is_external = self.text is self.cuda is self.cpu is None
        if files or (is_external and not (dialect == "c" and has_python_body)):
            return external_functions.call_code(source, self.pure, dialect, files)
        return None

    def _text(self, dialect: Dialect, has_python_body: bool) -> str | None:
        if dialect == "cuda":
            return self.text if self.cuda is None else self.cuda
        return self.cpu if self.cpu is not None or has_python_body else self.text


def _body(text: str, source: Source) -> tuple[CodeLine, ...]:
    lines = lines_of(text, source)
    if not lines:
        fail(
            "inline-c",
            Label(source.span(source.tree), "its C text is empty"),
            hint="write the body, or omit the text",
        )
    return lines


@overload
def c_function(function: Callable[P, R], /) -> CFunction[P, R]: ...
@overload
def c_function(
    text: str | None = None,
    /,
    *,
    cuda: str | None = None,
    cpu: str | None = None,
    preamble: str = "",
    headers: Sequence[str] = (),
    link: LinkLike | None = None,
    pure: bool = False,
    signature: object = None,
) -> Callable[[Callable[P, R]], CFunction[P, R]]: ...
@with_last_overload_signature
def c_function(
    text: Any = None,
    /,
    *,
    cuda: str | None = None,
    cpu: str | None = None,
    preamble: str = "",
    headers: Sequence[str] = (),
    link: LinkLike | None = None,
    pure: bool = False,
    signature: object = None,
) -> Any:
    """Define a device function in C; the Python function declares the types and a reference body.

    Parameters
    ----------
    text : str or callable, optional
        The body, CUDA C++ on a GPU. Parameters are available by name. An array ``a`` is a pointer;
        its length is ``a_len``, the lengths of several axes ``a_shape0``, …, and the strides of a
        non-contiguous array ``a_stride0``, …. Without a text, a linked file defines the function.
    cuda, cpu : str, optional
        The body for one target. On the CPU, a function without ``cpu`` uses its Python body, or
        ``text`` if there is none.
    preamble : str, optional
        C at file scope: helper functions, types, macros.
    headers : sequence of str, optional
        CUDA headers for a GPU, such as "mma.h".
    link : path, sequence of path or dict, optional
        Files that the C requires, as for ``kernel``.
    pure : bool, optional
        True promises that the function only computes a value from its arguments and memory. Calls
        may then be moved, repeated, removed and vectorized. Otherwise each call is executed once,
        in program order.
    signature : str, type or sequence, optional
        The types, if there are no annotations: ``"float32(float32, int32)"``.

    Returns
    -------
    CFunction or callable
        The device function, or with options the decorator that returns it.

    Raises
    ------
    TypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> from pycu2c import cuda
    >>> @cuda.c_function("return a * a;", signature="float32(float32)")
    ... def square(a):
    ...     return a * a
    """
    body = None if callable(text) else text
    for name, value in (("C", body), ("cuda", cuda), ("cpu", cpu)):
        if not isinstance(value, str | None):
            raise TypeError(f"{name} must be a string, not {value!r}")
    names = (headers,) if isinstance(headers, str) else headers
    includes = "".join(f"#include <{name.strip('<>')}>\n" for name in names)
    texts = _InlineC(body, cuda, cpu, includes, preamble, parse_links(link), pure)

    def decorate(function: Callable[P, R]) -> CFunction[P, R]:
        source = DeviceFunction(function, signature=signature).__pycu2c_device__
        return CFunction(source, texts.external_code)

    return decorate(text) if callable(text) else decorate


def ptx_function(
    text: str, /, *, pure: bool = True, signature: object = None
) -> Callable[[Callable[P, R]], CFunction[P, R]]:
    """Define a device function in PTX: ``"lop3.b32 %result, %a, %b, %c, 0x96;"``.

    Parameters
    ----------
    text : str
        The instructions. ``%name`` is a parameter and ``%result`` the result; other names after
        ``%`` are PTX names. Targets other than GPUs run the Python body.
    pure : bool, optional
        False if the function has side effects or its result depends on more than its arguments.
        Each call is then executed once, in program order.
    signature : str, type or sequence, optional
        The types, if there are no annotations.

    Returns
    -------
    callable
        A decorator, which returns the device function.
    """

    def decorate(function: Callable[P, R]) -> CFunction[P, R]:
        def external_code(source: Source) -> ExternalCode:
            lines = ptx.asm_text(lines_of(text, source), source, pure)
            has_python_body = not is_stub(source.tree)
            return ExternalCode((DialectCode("cuda", lines),), pure, has_python_body)

        return CFunction(
            DeviceFunction(function, signature=signature).__pycu2c_device__, external_code
        )

    return decorate


def declare_device(
    name: str,
    sig: object,
    link: LinkLike | None = None,
    *,
    abi: Abi = "numba",
    pure: bool = False,
    use_cooperative: bool = False,
) -> CFunction[..., Any]:
    """Declare a device function of a linked file: ``extern "C" __device__ …`` for a GPU.

    Parameters
    ----------
    name : str
        The name in C.
    sig : str or type
        The signature: ``"float32(float32, float32)"``. Arrays are passed as a pointer to their
        first element.
    link : path, sequence of path or dict, optional
        Files that define it, in addition to those of ``kernel(link=…)``.
    abi : {"numba", "c"}, optional
        "numba" for a function that returns an int status and stores its result through a pointer,
        its first parameter. "c" for one that returns its result.
    pure : bool, optional
        As for ``c_function``.
    use_cooperative : bool, optional
        Whether the function synchronizes the grid. Kernels that call it have cooperative launches
        on a GPU, and do not run on the CPU.

    Returns
    -------
    CFunction
        The device function.

    Raises
    ------
    ValueError
        If ``abi`` or ``name`` is invalid.
    """
    if abi not in ("c", "numba"):
        raise ValueError(f'abi is "numba" or "c", not {abi!r}')
    types = parse_signature(sig)
    source = external_functions.external_stub(name, types, sys._getframe(1))
    links = parse_links(link)

    def external_code(source: Source) -> ExternalCode:
        dialects = ("cuda",) if use_cooperative else get_args(Dialect)
        codes = [
            external_functions.call_code(source, pure, d, links_for_target(links, d), abi)
            for d in dialects
        ]
        return ExternalCode(tuple(codes), pure, False, use_cooperative)

    return CFunction(source, external_code)


def _check_parameters(source: Source) -> None:
    """Check that each parameter is positional and has a valid C name."""
    parameters = source.tree.args
    for node in (parameters.vararg, parameters.kwarg):
        if node is not None:
            fail(
                "inline-c",
                Label(source.span(node), "a C function takes a fixed number of arguments"),
                hint="write one parameter per argument",
            )
    for node in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
        if node.arg in KEYWORDS or not node.arg.isascii():
            fail(
                "inline-c",
                Label(source.span(node), f"`{node.arg}` is not a valid C identifier"),
                hint="rename it: use ASCII letters and no keyword of C or C++",
            )
