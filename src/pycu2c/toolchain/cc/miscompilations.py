"""Detect known miscompilations of the C compiler, and select flags that avoid them.

At the first use of a compiler, one file with a function per fault is compiled with the flags of
kernels and run. The result is cached on disk under the identity of compiler and machine, so a
compiler without the fault does not pay for it.

To add a fault, write a function that returns whether it was miscompiled. Its inputs are parameters,
so that the compiler cannot evaluate it.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable

from pycu2c.base.records import dataclass
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.cc import build
from pycu2c.toolchain.cc.compiler_identity import identity_of
from pycu2c.toolchain.cc.discovery import Compiler
from pycu2c.toolchain.toolchain_errors import RejectedCodeError, ToolchainError


@dataclass(frozen=True, slots=True)
class Miscompilation:
    """A fault of some compilers.

    ``check``: a C function ``int NAME(const double *a, double *out)`` that returns whether the
    compiler has it, for ``a = {0.1, 0.2}``. ``flags`` avoid it, in texts that ``may_have`` it.
    """

    name: str
    check: str
    flags: tuple[str, ...]
    may_have: Callable[[str], object]


_ASSIGNMENT = re.compile(r"\b(\w+) (\*?)= (.*);")  # to a variable


def _multiplies_by_itself(text: str) -> bool:
    """Return whether a signed variable may be multiplied by a value that depends on it.

    Such a value contains the variable, or a variable that is assigned one from it. Signed products
    are computed in an unsigned type.
    """
    assignments = [m.groups() for m in _ASSIGNMENT.finditer(text)]
    names = [(name, re.findall(r"\w+", value)) for name, _, value in assignments]
    read_by_others = {read for name, reads in names for read in reads if read != name}
    return any(
        "(uint" in value
        and (operator or _is_product(value))
        and (name in read_by_others or bool(operator) + reads.count(name) > 1)
        for (name, operator, value), (_, reads) in zip(assignments, names)
        if operator or name in reads
    )


def _is_product(value: str) -> bool:
    while (shorter := re.sub(r"\([^()]*\)", "", value)) != value:  # casts and operands
        value = shorter
    return re.search(r"[-+/%&|^<>?]", value) is None and "*" in value


MISCOMPILATIONS = (
    Miscompilation(
        "lost_rounding",
        """
// gcc 12.2: the SLP vectorizer deletes (double)(float)x if it vectorizes both conversions
int lost_rounding(const double *a, double *out) {
    float rounded[2];
    for (int i = 0; i < 2; ++i) rounded[i] = (float)a[i];
    for (int i = 0; i < 2; ++i) out[i] = (double)rounded[1 - i];
    return out[0] == a[1] || out[1] == a[0];
}
""",
        ("-fno-tree-slp-vectorize",),
        re.compile(r"(?s)^(?=.*\bfloat\b)(?=.*\bdouble\b)").search,
    ),
    Miscompilation(
        "recurrence_as_reduction",
        """
// gcc 12.2: the loop vectorizer takes the product of a signed variable with itself, in the unsigned
// type, for a reduction
int recurrence_as_reduction(const double *a, double *out) {
    const unsigned factor = (unsigned)(a[0] * 30);
    const int count = (int)(a[1] * 100);
    int x = 1;
    unsigned y = 1;
    for (int i = 0; i < count; ++i) x *= factor * (unsigned)x;
    for (int i = 0; i < count; ++i) y *= factor * y;
    return (unsigned)x != y;
}
""",
        ("-fno-tree-loop-vectorize",),
        _multiplies_by_itself,
    ),
)


def flags_that_avoid_miscompilations(
    text: str, compiler: Compiler, flags: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the flags that a text needs besides ``flags``, with which the faults are searched."""
    candidates = [m for m in MISCOMPILATIONS if m.may_have(text)]
    if not candidates or compiler.target:  # the code of a cross compiler cannot be run
        return ()
    found = _find_miscompilations(compiler, flags, identity_of(compiler))
    return tuple(flag for m in candidates if m.name in found for flag in m.flags)


@functools.lru_cache(maxsize=8)
def _find_miscompilations(
    compiler: Compiler, flags: tuple[str, ...], identity: str
) -> frozenset[str]:
    """Return the names of the faults that a compiler has with these flags."""
    text = "".join(m.check for m in MISCOMPILATIONS)
    key = artifact_store.key_of(text, "miscompilations", *flags, identity)
    try:
        entry = artifact_store.load_or_make(
            key, ".txt", lambda: (_run_checks(compiler, flags, text).encode(), "")
        )
    except (ToolchainError, RejectedCodeError):  # the kernel itself will report it
        return frozenset()
    return frozenset(entry.data.decode().split())


def _run_checks(compiler: Compiler, flags: tuple[str, ...], text: str) -> str:
    """Compile and run the checks; return the names of those that fail."""
    library = build.build(build.CcJob(compiler, text, "miscompilations", flags))
    functions = ctypes.CDLL(library.path)
    numbers, out = (ctypes.c_double * 2)(0.1, 0.2), (ctypes.c_double * 2)()
    return " ".join(m.name for m in MISCOMPILATIONS if getattr(functions, m.name)(numbers, out))
