"""Device functions in C of the user's own: ``cuda.c_function``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ParamSpec, TypeVar

from pycu2c.c_texts import lines_of
from pycu2c.diagnostics import Label, fail
from pycu2c.emit.names import identifier
from pycu2c.foreign import Code, Dialect, Foreign, Line
from pycu2c.frontend.own_c import is_stub
from pycu2c.kernel import Device
from pycu2c.records import dataclass
from pycu2c.source import Source

P = ParamSpec("P")
R = TypeVar("R")


class CFunction(Device[P, R]):
    """A function that kernels call, and that is C in them. Outside of kernels it is the Python
    function that it was, if that has a body."""

    def __init__(
        self,
        function: Callable[P, R],
        foreign: Callable[[Source], Foreign],
        signature: object = None,
    ) -> None:
        super().__init__(function, signature=signature)
        source = self.__pycu2c_device__
        _check_parameters(source)
        self.__pycu2c_device__ = replace(source, foreign=foreign(source))

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        foreign = self.__pycu2c_device__.foreign
        if foreign is not None and not foreign.has_body:
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
    preamble: str
    pure: bool

    def foreign(self, source: Source) -> Foreign:
        """The codes of a function."""
        has_body = not is_stub(source.tree)
        on_cpu = self.cpu if self.cpu is not None or has_body else self.text
        texts: tuple[tuple[Dialect, str | None], ...] = (
            ("cuda", self.text if self.cuda is None else self.cuda),
            ("c", on_cpu),
        )
        preamble = lines_of(self.preamble, source)
        codes = [Code(d, _body(t, source), preamble) for d, t in texts if t is not None]
        if not codes:
            fail(
                "own-c",
                Label(source.span(source.tree), "no C is given for it"),
                help='write @cuda.c_function("return x + y;"), or cuda="…" and cpu="…"',
            )
        return Foreign(tuple(codes), self.pure, has_body)


def _body(text: str, source: Source) -> tuple[Line, ...]:
    lines = lines_of(text, source)
    if not lines:
        fail(
            "own-c",
            Label(source.span(source.tree), "the text of its C is empty"),
            help="write what it does, or leave the text out",
        )
    return lines


def c_function(
    text: str | None = None,
    /,
    *,
    cuda: str | None = None,
    cpu: str | None = None,
    preamble: str = "",
    headers: Sequence[str] = (),
    pure: bool = False,
    signature: object = None,
) -> Callable[[Callable[P, R]], CFunction[P, R]]:
    """Write a device function in C: the decorator has its body, the Python function says what it
    takes, gives and computes.

    text: the body, in CUDA C++ on a GPU. It knows the parameters by their names; of an array
    ``a``, which is a pointer, it may read ``a_len``, of one with several axes ``a_shape0``, and of
    one that is not contiguous ``a_stride0``.
    cuda, cpu: the body for one of them. On the CPU a function without ``cpu`` is its Python body;
    if it has none, ``text``.
    preamble: C that stands outside of functions: helper functions, types, macros.
    headers: names of headers, such as "cuda_fp16.h".
    pure: True says that it gives a value of its arguments and of memory and does nothing else: a
    call may be moved, repeated and left out, and on the CPU threads run it in vectors. Otherwise
    each call is done once, in its place.
    signature: types, where there are no annotations: "float32(float32, int32)".
    """
    includes = (headers,) if isinstance(headers, str) else headers
    lines = "".join(f"#include <{name.strip('<>')}>\n" for name in includes)
    given = _Given(text, cuda, cpu, lines + preamble, pure)
    return lambda function: CFunction(function, given.foreign, signature)


def _check_parameters(source: Source) -> None:
    """C knows them by their names, each by its place."""
    own = source.tree.args
    for node in (own.vararg, own.kwarg):
        if node is not None:
            fail(
                "own-c",
                Label(source.span(node), "a C function takes a fixed number of arguments"),
                help="write one parameter for each",
            )
    for node in (*own.posonlyargs, *own.args, *own.kwonlyargs):
        if identifier(node.arg) != node.arg:
            fail(
                "own-c",
                Label(source.span(node), f"`{node.arg}` is no name for a variable of C"),
                help="rename it: C has another meaning for it",
            )
