"""``cuda.jit`` in each form that numba gives it. Knows what its options mean to kernels of this
package, and what to say of those that mean nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, overload

from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import NONE, Signature
from pycu2c.compat.numba.dispatcher import Jitted, JittedDevice, python_of
from pycu2c.declarations.options import NAMES, BadOption
from pycu2c.declarations.signatures import BadSignature, is_signature, parse_signatures
from pycu2c.kernels.kernel import OWN, SignatureLike, made_kernel

# what compilers of C do anyway, or what numba alone has to choose between
_WITHOUT_EFFECT = ("inline", "forceinline", "opt", "nopython", "lto")
_KNOWN = ("device", "debug", *_WITHOUT_EFFECT, *OWN, *NAMES)
_REFUSED = {
    "argtypes": "the types come first: @cuda.jit('void(float32[:], int32)')",
    "restype": "the types come first: @cuda.jit('float32(float32)', device=True)",
    "bind": "leave it out: kernels are loaded when they are launched",
    "boundscheck": "run the program with PYCU2C_BACKEND=python, which looks at every index",
    "extensions": "pass what the arguments stand for: arrays, numbers and tuples of them",
    "forceobj": "leave it out: there is no object mode",
}


P = ParamSpec("P")
R = TypeVar("R")


class KernelDecorator(Protocol):
    """What ``jit(…)`` gives: it makes a kernel of any function."""

    def __call__(self, function: Callable[P, None], /) -> Jitted[P]: ...


class DeviceDecorator(Protocol):
    """What ``jit(…, device=True)`` gives."""

    def __call__(self, function: Callable[P, R], /) -> JittedDevice[P, R]: ...


@overload
def jit(func_or_sig: Callable[P, None], /) -> Jitted[P]: ...
@overload
def jit(
    func_or_sig: SignatureLike | None = None, *, device: Literal[True], **options: Any
) -> DeviceDecorator: ...
@overload
def jit(
    func_or_sig: SignatureLike | None = None, *, device: Literal[False] = False, **options: Any
) -> KernelDecorator: ...
def jit(
    func_or_sig: Any = None,
    device: bool = False,
    inline: Any = None,
    link: Any = None,
    debug: bool | None = None,
    opt: Any = None,
    lineinfo: bool | None = None,
    cache: bool | None = None,
    **options: Any,
) -> Any:
    """Make a kernel of a function, or with ``device=True`` a function that kernels call.

    A kernel may be called by another one, too. What may come first is a signature, as text or as
    types, or a list of signatures: the kernel is typed for them when it is defined, and launched
    with nothing else.

    device: whether the function is for kernels to call.
    debug, lineinfo: tell debuggers and profilers the lines of Python. With ``debug`` a launch
    raises what the kernel raises, and ``assert`` is evaluated.
    fastmath, max_registers, launch_bounds, and whatever else ``@kernel`` takes: see there.
    link: files with functions that ``cuda.declare_device`` declares.
    cache: False keeps nothing on disk.
    inline, forceinline, opt, lto, nopython: read, and without effect: the C compilers inline and
    optimise.
    """
    shown = {"lineinfo": lineinfo or debug or None, "checked": debug or None}
    told = {**shown, "cache": cache, "link": link, **options}
    given = {name: value for name, value in told.items() if value is not None}
    _check(given)
    if func_or_sig is None:
        return lambda function: _made(function, device, given)
    if is_signature(func_or_sig):
        given["signature"] = _signatures(func_or_sig, device)
        return lambda function: _made(function, device, given)
    return _made(func_or_sig, device, given)


def _check(given: Mapping[str, Any]) -> None:
    """Refuse what has no meaning here. Raises BadOption."""
    for name, value in given.items():
        if name in _REFUSED and value:
            raise BadOption(f"cuda.jit has no option {name!r} here: {_REFUSED[name]}")
        if name not in (*_KNOWN, *_REFUSED):
            cure = did_you_mean(name, _KNOWN, f"it has {', '.join(_KNOWN)}")
            raise BadOption(f"cuda.jit has no option {name!r}: {cure}")


def _signatures(given: Any, device: bool) -> list[Signature]:
    found = list(parse_signatures(given))
    for signature in found:
        if not device and signature.result not in (None, NONE):
            raise BadSignature(
                f"a kernel returns nothing, and {given!r} says that it returns a "
                f"{signature.result}: write void(…), or device=True"
            )
    return found


def _made(function: Any, device: bool, given: Mapping[str, Any]) -> Any:
    python = python_of(function)
    if device:
        if given.get("link"):
            raise BadOption("link is an option of kernels: a device function is linked with them")
        return JittedDevice(python, signature=given.get("signature"))
    undeclared: dict[str, Any] = {
        "signature": []
    }  # whatever annotations say: to numba they are comments
    return made_kernel(Jitted, python, {**undeclared, **_options(given)})


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """As ``@kernel`` has them."""
    dropped = (*_WITHOUT_EFFECT, *_REFUSED)
    found = {name: value for name, value in given.items() if name not in dropped}
    if "fastmath" in found:
        found["fastmath"] = bool(found["fastmath"])  # a set of flags
    return found
