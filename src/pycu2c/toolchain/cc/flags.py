"""What each kind of C compiler is told, by what it says of its version. Runs none."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator

from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of compiler: what it is told, and no other would understand or need."""

    flags: tuple[str, ...] = ()
    to_the_bit: tuple[str, ...] = ()  # with fmad=False, where results are equal to the bit
    not_warnings: tuple[str, ...] = ()  # what -Wall means to it that is nothing to us
    # for code in several files: a call of a function in another is as one in the same, and that it
    # is of the types that the other has is looked at
    across_files: tuple[str, ...] = ()
    # how a library is linked with its own functions alone; the rest is looked for in the process
    alone: tuple[str, ...] = ()


GCC = Family(
    flags=(
        # gcc 12 changes the order of two stores to one element where one index may wrap
        "-fno-tree-loop-distribution",
        # a loop over a block that fills shared memory is no call of memcpy: what comes next reads
        # it by vectors, which are not the pieces that memcpy writes
        "-fno-tree-loop-distribute-patterns",
    ),
    to_the_bit=("-ftrapping-math", "-frounding-math"),  # it is to keep the sign of a zero
    across_files=("-flto", "-Werror=lto-type-mismatch"),
    alone=("-nostdlib", "-lgcc") if sys.platform == "linux" else (),
)
CLANG = Family(
    flags=("-Wno-pass-failed",),  # a loop that it cannot vectorise is no news to a user
    not_warnings=("-Wno-unused-function",),  # of inline ones
)


# "the processor of this machine", by its architecture; elsewhere compilers have no such word.
# Where vectors may have 512 bits, gcc takes half of that on Intel's processors: loops over the
# threads of a block then take up to twice as long
_ON_X86 = ("-march=native", "-mprefer-vector-width=512")
# to the bit: gcc's vectoriser makes vfmaddsub of a product of complex numbers whatever
# -ffp-contract says, so that the processor must have none; and functions are the C library's
_NO_FMA = ("-mno-fma", "-mno-avx512f")
# gcc, since it knows of vectors of halves, writes moves of them that its assembler refuses
_NO_HALVES = ("-mno-avx512fp16",)
_NATIVE = {
    "x86_64": _ON_X86,
    "AMD64": _ON_X86,
    "aarch64": ("-mcpu=native",),
    "arm64": ("-mcpu=native",),
    "ppc64le": ("-mcpu=native",),
}


LINK = ("-pipe", "-shared", "-pthread")  # what makes a library of a text
_ALL_DEFINED = ("-Wl,-z,defs",) if sys.platform == "linux" else ()
# headers of functions that are in every process
_EVERYWHERE = frozenset(("stdbool.h", "stddef.h", "stdint.h", "string.h"))


def family_of(version: str) -> Family:
    """The kind of a compiler that calls itself so."""
    return CLANG if "clang" in version.lower() else GCC  # zig's is clang


def flags_of(version: str, target: str) -> tuple[str, ...]:
    """What a compiler is told beside what all are. ``target``: the processor that it compiles for,
    if it is not this machine's."""
    family = family_of(version)
    native = () if target else _NATIVE.get(platform.machine(), ())
    makes_halves = native == _ON_X86 and family is GCC and _release(version) >= 12
    return (*native, *(_NO_HALVES if makes_halves else ()), *family.flags)


def _release(version: str) -> int:
    """12 of ``gcc (Debian 12.2.0-14) 12.2.0``; 0 if there is no such number."""
    number = version.partition(") ")[2].partition(".")[0]
    return int(number) if number.isdecimal() else 0


def to_the_bit(version: str, target: str) -> tuple[str, ...]:
    """What it is told where results must be equal to the bit."""
    on_x86 = (target or platform.machine()) in ("x86_64", "AMD64")
    return (*family_of(version).to_the_bit, *(_NO_FMA if on_x86 else ()))


def libraries_for(text: str, family: Family, files: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What stands after the file that needs it. To look through all of C's libraries would take
    a fifth of the time; generated text needs the mathematical one at most."""
    if files:
        folders = dict.fromkeys(os.path.dirname(f) for f in files if f.endswith(".so"))
        return ("-lm", *_ALL_DEFINED, *(f"-Wl,-rpath,{folder}" for folder in folders))
    included = frozenset(_included(text)) - _EVERYWHERE
    alone = family.alone if included <= {"math.h"} else ()
    return ("-lm", *alone) if included or not alone else alone


def _included(text: str) -> Iterator[str]:
    """The headers. (To compile a regular expression would take longer.)"""
    _, *parts = f"\n{text}".split("\n#include <")
    yield from (part.partition(">")[0] for part in parts)
