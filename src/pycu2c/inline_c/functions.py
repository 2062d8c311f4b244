"""Device functions in C of the user's own: ``cuda.c_function``, ``cuda.ptx_function``, and
``cuda.declare_device`` for those that are in files alone."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, get_args, overload

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.external_code import CodeLine, Dialect, ExternalCode, InlineCode
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Source, is_stub
from pycu2c.csyntax.keywords import KEYWORDS
from pycu2c.declarations.link_files import Link, links_for_target, parse_links
from pycu2c.declarations.signatures import parse_signature
from pycu2c.inline_c import external_functions, ptx
from pycu2c.inline_c.external_functions import Abi
from pycu2c.inline_c.source_lines import lines_of
from pycu2c.kernels.kernel import Device, LinkLike

P = ParamSpec("P")
R = TypeVar("R")


class CFunction(Device[P, R]):
    """A function that kernels call, and that is C in them. Outside of kernels it is the Python
    function that it was, if that has a body."""

    def __init__(self, source: Source, external_code: Callable[[Source], ExternalCode]) -> None:
        functools.update_wrapper(self, source.python)
        self.python = source.python
        _check_parameters(source)
        self.__pycu2c_device__ = replace(source, external_code=external_code(source))

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        external_code = self.__pycu2c_device__.external_code
        if external_code is not None and not external_code.has_python_body:
            name = self.__pycu2c_device__.name
            raise TypeError(f"{name} is C alone, which kernels call: it has no Python body")
        return super().__call__(*arguments, **named)

    def __repr__(self) -> str:
        return f"<C function {self.__pycu2c_device__.name}>"


@dataclass(frozen=True, slots=True)
class _Given:
    """What the decorator was given."""

    text: str | None
    cuda: str | None
    cpu: str | None
    headers: str
    preamble: str
    links: tuple[Link, ...]
    pure: bool

    def external_code(self, source: Source) -> ExternalCode:
        """The codes of a function."""
        has_python_body = not is_stub(source.tree)
        found = [self._code(dialect, source, has_python_body) for dialect in get_args(Dialect)]
        return ExternalCode(tuple(code for code in found if code), self.pure, has_python_body)

    def _code(self, dialect: Dialect, source: Source, has_python_body: bool) -> InlineCode | None:
        """That of one dialect: a text, or one that calls what is linked."""
        text, files = self._text(dialect, has_python_body), links_for_target(self.links, dialect)
        if text is not None:
            headers = lines_of(self.headers, source) if dialect == "cuda" else ()
            preamble = (*headers, *lines_of(self.preamble, source))
            return InlineCode(dialect, _body(text, source), preamble, files)
        is_elsewhere = self.text is self.cuda is self.cpu is None
        if files or (is_elsewhere and not (dialect == "c" and has_python_body)):
            return external_functions.External(source, self.pure).code(dialect, files)
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
            Label(source.span(source.tree), "the text of its C is empty"),
            hint="write what it does, or leave the text out",
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
def c_function(text: Any = None, /, **given: Any) -> Any:
    """Write a device function in C: the decorator has its body, the Python function says what it
    takes, gives and computes.

    text: the body, in CUDA C++ on a GPU. It knows the parameters by their names; of an array
    ``a``, which is a pointer, it may read ``a_len``, of one with several axes ``a_shape0``, and of
    one that is not contiguous ``a_stride0``. Without any text the function is one of this name in a
    file that is linked.
    cuda, cpu: the body for one of them. On the CPU a function without ``cpu`` is its Python body;
    if it has none, ``text``.
    preamble: C that stands outside of functions: helper functions, types, macros.
    headers: names of CUDA's headers for a GPU, such as "mma.h".
    link: files that the C needs, as for ``@kernel``.
    pure: True says that it gives a value of its arguments and of memory and does nothing else: a
    call may be moved, repeated and left out, and on the CPU threads run it in vectors. Otherwise
    each call is done once, in its place.
    signature: types, where there are no annotations: "float32(float32, int32)".
    """
    if callable(text):
        return _function(text, _given(None), None)
    signature = given.pop("signature", None)
    own = _given(text, **given)
    return lambda function: _function(function, own, signature)


def _given(text: object, /, **rest: Any) -> _Given:
    """What the decorator was told, looked at. Raises TypeError."""
    texts = {"C": text, **{name: rest.pop(name, None) for name in ("cuda", "cpu")}}
    for name, found in texts.items():
        if not isinstance(found, str | None):
            raise TypeError(f"{name} is a text, not {found!r}")
    headers, preamble = rest.pop("headers", ()), rest.pop("preamble", "")
    links, pure = parse_links(rest.pop("link", None)), rest.pop("pure", False)
    if rest:
        raise TypeError(f"c_function has no parameter {next(iter(rest))!r}")
    names = (headers,) if isinstance(headers, str) else headers
    includes = "".join(f"#include <{name.strip('<>')}>\n" for name in names)
    code, cuda, cpu = texts.values()
    return _Given(code, cuda, cpu, includes, preamble, links, pure)


def _function(function: Callable[P, R], given: _Given, signature: object) -> CFunction[P, R]:
    return CFunction(Device(function, signature=signature).__pycu2c_device__, given.external_code)


def ptx_function(
    text: str, /, *, pure: bool = True, signature: object = None
) -> Callable[[Callable[P, R]], CFunction[P, R]]:
    """Write a device function in PTX: ``"lop3.b32 %result, %a, %b, %c, 0x96;"``.

    text: instructions. A parameter is ``%`` and its name, what the function gives ``%result``;
    other names after a ``%`` are PTX's own. A GPU runs it; elsewhere the Python body is what it is.
    pure: False says that it does more than give a value of its arguments, or gives another each
    time: each call is then done once, in its place.
    signature: types, where there are no annotations.
    """

    def made(function: Callable[P, R]) -> CFunction[P, R]:
        def external_code(source: Source) -> ExternalCode:
            lines = ptx.asm_text(lines_of(text, source), source, pure)
            has_python_body = not is_stub(source.tree)
            return ExternalCode((InlineCode("cuda", lines),), pure, has_python_body)

        return CFunction(Device(function, signature=signature).__pycu2c_device__, external_code)

    return made


def declare_device(
    name: str,
    sig: object,
    link: LinkLike | None = None,
    *,
    abi: Abi = "numba",
    pure: bool = False,
) -> CFunction[..., Any]:
    """A device function that a linked file has: ``extern "C" __device__ …`` for a GPU.

    sig: what it takes and gives: "float32(float32, float32)". Arrays are given as a pointer
    to their first element.
    link: files that have it; those of ``@kernel(link=…)`` are looked in, too.
    abi: "numba" for a function as numba wants it: it returns an int, 0, and gives its value through
    a pointer that comes first. "c" for one that returns what it gives.
    pure: as for ``c_function``.
    """
    if abi not in ("c", "numba"):
        raise ValueError(f'abi is "numba" or "c", not {abi!r}')
    types = parse_signature(sig)
    source, links = external_functions.stub_of(name, types, sys._getframe(1)), parse_links(link)

    def external_code(source: Source) -> ExternalCode:
        found = external_functions.External(source, pure, abi)
        codes = [found.code(d, links_for_target(links, d)) for d in get_args(Dialect)]
        return ExternalCode(tuple(codes), pure, has_python_body=False)

    return CFunction(source, external_code)


def _check_parameters(source: Source) -> None:
    """C knows them by their names, each by its place."""
    own = source.tree.args
    for node in (own.vararg, own.kwarg):
        if node is not None:
            fail(
                "inline-c",
                Label(source.span(node), "a C function takes a fixed number of arguments"),
                hint="write one parameter for each",
            )
    for node in (*own.posonlyargs, *own.args, *own.kwonlyargs):
        if node.arg in KEYWORDS or not node.arg.isascii():
            fail(
                "inline-c",
                Label(source.span(node), f"`{node.arg}` is no name for a variable of C"),
                hint="rename it: its letters are ASCII's, and it is no keyword of C or C++",
            )
