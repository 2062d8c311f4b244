"""Select the flags of C compilers by family and version."""

from __future__ import annotations

import os
import platform
import sys

from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class CompilerFamily:
    """The flags that only one family of compilers understands or requires."""

    flags: tuple[str, ...] = ()
    bit_exact_flags: tuple[str, ...] = ()  # for fmad=False: bit-exact results
    # link-time optimization across several files, which also checks the types of functions
    lto_flags: tuple[str, ...] = ()


GCC = CompilerFamily(
    flags=(
        # gcc 12 reorders two stores to the same element if an index may wrap
        "-fno-tree-loop-distribution",
        # loops that fill shared memory must not become memcpy: vector loads of its result would
        # stall, because memcpy stores smaller pieces
        "-fno-tree-loop-distribute-patterns",
        # gcc for Windows aligns vectors of 32 bytes on the stack to 16
        *(("-Wa,-muse-unaligned-vector-move",) if sys.platform == "win32" else ()),
    ),
    bit_exact_flags=("-ftrapping-math", "-frounding-math"),  # preserve the sign of zero
    lto_flags=("-flto", "-Werror=lto-type-mismatch"),
)
CLANG = CompilerFamily(
    flags=("-Wno-pass-failed",),  # users need no warning about loops that are not vectorized
)


# Flags for the host processor, by architecture. On Intel processors with 512-bit vectors gcc
# prefers 256 bits, with which work-item loops take up to twice as long.
_X86_NATIVE = ("-march=native", "-mprefer-vector-width=512")
# For bit-exact results: gcc's vectorizer generates vfmaddsub for products of complex numbers even
# with -ffp-contract=off, so FMA instructions are disabled.
NO_FMA = ("-mno-fma", "-mno-avx512f")
# since version 12 gcc generates moves of float16 vectors that the assembler may reject
_NO_AVX512_FP16 = ("-mno-avx512fp16",)
# gcc 12 and 13 may give a gather of four elements a mask of two: the others keep old values
_NO_GATHERS = ("-mtune-ctrl=^use_gather,^use_gather_2parts,^use_gather_4parts",)
_NATIVE = {
    "x86_64": _X86_NATIVE,
    "AMD64": _X86_NATIVE,
    "aarch64": ("-mcpu=native",),
    "arm64": ("-mcpu=native",),
    "ppc64le": ("-mcpu=native",),
}


# flags to build a shared library, by system; on Windows it contains the libraries of the compiler,
# in whose folder Python does not search
LINK_FLAGS = {
    "darwin": ("-pipe", "-dynamiclib"),
    "win32": ("-pipe", "-shared", "-static", "-pthread"),
}.get(sys.platform, ("-pipe", "-shared", "-pthread"))
# other files of the process may define functions; Linux allows that by default, macOS rejects it
_NO_UNDEFINED = ("-Wl,-z,defs",) if sys.platform == "linux" else ()
_ALLOW_UNDEFINED = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()


def family_of(version: str) -> CompilerFamily:
    """Return the family of a compiler from the output of ``--version``."""
    return CLANG if "clang" in version.lower() else GCC  # zig's is clang


def flags_of(version: str, target: str) -> tuple[str, ...]:
    """Return the flags that a compiler always requires; ``target``: that of a cross compiler."""
    family = family_of(version)
    native = () if target else _NATIVE.get(platform.machine(), ())
    gcc_version = _major_version(version) if native == _X86_NATIVE and family is GCC else 0
    return (
        *native,
        *(_NO_AVX512_FP16 if gcc_version >= 12 else ()),
        *(_NO_GATHERS if gcc_version in (12, 13) else ()),
        *family.flags,
    )


def _major_version(version: str) -> int:
    """Return 12 for ``gcc (Debian 12.2.0-14) 12.2.0``; 0 if there is no such number."""
    number = version.partition(") ")[2].partition(".")[0]
    return int(number) if number.isdecimal() else 0


def bit_exact_flags(version: str, target: str) -> tuple[str, ...]:
    """Return the flags for bit-exact results."""
    on_x86 = (target or platform.machine()) in ("x86_64", "AMD64")
    return (*family_of(version).bit_exact_flags, *(NO_FMA if on_x86 else ()))


# NaN and infinity are preserved, as with nvcc. Not -ffast-math: some versions of gcc then set
# flush-to-zero for the whole process that loads the library.
_FAST = ("-fassociative-math", "-freciprocal-math", "-fno-signed-zeros")


def arithmetic_flags(*, contracts: bool, fast: bool) -> tuple[str, ...]:
    """Return the flags for contraction (FMA) and for value-changing optimizations."""
    contract = f"-ffp-contract={'fast' if contracts else 'off'}"
    return (contract, *_FAST) if fast else (contract,)


def libraries_for(files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the link flags after the source files; ``files`` are linked files of the user."""
    if not files:
        return ("-lm", *_ALLOW_UNDEFINED)
    folders = dict.fromkeys(os.path.dirname(f) for f in files if f.endswith((".so", ".dylib")))
    return ("-lm", *_NO_UNDEFINED, *(f"-Wl,-rpath,{folder}" for folder in folders))
