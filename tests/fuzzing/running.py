"""Cases run on a target and compared with the reference, many to a compilation."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

import numpy as np

from fuzzing.cases import Case, load, text_of
from fuzzing.checking import Undefined, run_reference
from fuzzing.comparing import difference
from fuzzing.variants import variant_of
from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.diagnostics import CompileError, CompileWarning
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.types import Signature
from pycu2c.compiler import KernelText, generate
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import Options
from pycu2c.frontend.function_builder import BuiltModule
from pycu2c.interpreter.functions import UnsupportedByReferenceError
from pycu2c.interpreter.interpreter import InterpretedKernel
from pycu2c.kernels import assumption_checks, specialization
from pycu2c.pipeline import TARGETS
from pycu2c.runtime.arguments.arguments import layout_of
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.flattened_arguments import unflatten
from pycu2c.runtime.cpu.coroutine_scheduler import CoroutineKernel, CoroutineRunner
from pycu2c.runtime.cpu.cpu_kernel import CpuKernel
from pycu2c.runtime.cpu.cpu_runner import CpuRunner
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.runtime.cuda.cuda_runner import CudaRunner
from pycu2c.runtime.launch_configuration import Launch, extent
from pycu2c.runtime.runner import Runner
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cc import build, cc
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import RejectedCodeError
from pycu2c.transforms.cpu.memory.privatize_accumulators import accumulator_arguments
from support.launching import IN_STRIPS, NARROWED

EXACT = Options(fmad=False)
COMPILED_ALONE = 10  # one public launch in so many runs on a GPU: NVRTC compiles it alone
CACHED = 40  # one public launch in so many is repeated from the disk cache
ARCH = "sm_90"  # where there is no GPU to ask

_LANGUAGES = {
    "cpu": TARGETS["cpu"],
    "cpu-resumable": TARGETS["cpu-resumable"],
    "narrowed": NARROWED,
    "strips": IN_STRIPS,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case: ``same``, ``undefined``, one of EXCUSED, or a failure.

    Failures are ``refused`` (a CompileError), ``crash`` (an exception), ``c-refused`` and
    ``wrong``; ``died`` and ``hung`` are found by those who wait for the process.
    """

    text: str
    status: str
    detail: str = ""
    seed: int = -1
    warned: int = 0  # how many reads may find nothing assigned

    @property
    def failed(self) -> bool:
        return self.status not in ("same", "undefined", *EXCUSED, *MARKS)

    @property
    def kind(self) -> str:
        """What stays the same while a case shrinks."""
        if self.status not in ("refused", "crash"):
            return self.status
        first = self.detail.partition("\n")[0]
        under = re.search(r"\^+ (.*)", self.detail) if self.status == "refused" else None
        said = f"{first} {under[1] if under else ''}"
        return f"{self.status}: {re.sub(r'[^A-Za-z ]+', '', said)[:80].strip()}"


# What is no fault of the compiler under test, each with its reason. They are counted, and are few.
EXCUSED = {
    "compiler-died": "NVRTC 13 ends the process with a segmentation fault on some valid C, such as "
    "a loop in an `if` where another `if` divides a double by a constant 0 and then stores an "
    "element that it chooses by it",
    "out-of-range": "a constant that does not fit its partner is refused, as numpy does; folding "
    "finds more constants than the generator knows of",
}
# refusals of what numpy raises for: an integer to a negative power, -a and a - b of bools
_RAISED_BY_NUMPY = ("to a negative power", "has no meaning for `bool`", "`bool` and `bool` have no")
MARKS = ("understood", "prepared", "compiled")
UNDERSTOOD = Outcome("", "understood")  # one more case has a meaning
PREPARED = Outcome("", "prepared")  # the target's compiler is next
COMPILED = Outcome("", "compiled")  # launches follow: whoever waits may lose patience


@dataclass(slots=True)
class _Prepared:
    """A case that has a meaning, and its texts for the target."""

    case: Case
    seed: int
    expected: list[Any]
    texts: list[KernelText]
    warned: int
    public: Any = None  # the kernel, if it is launched as users launch one


def _assumptions(case: Case, built: BuiltModule) -> LaunchAssumptions:
    """What holds for a launch of the case; less, where the text says so."""
    block = case.module["BLOCK"] if case.module.get("KNOWN_BLOCK", True) else None
    small = accumulator_arguments(built.module) if case.module.get("OWN_ACCUMULATORS", True) else ()
    launcher = case.kernel.launcher
    arguments = launcher.flatten(arguments_of(case))
    typed = launcher.typed_kernel(launcher.signature(arguments))
    is_large = assumption_checks.has_large_integer(arguments.leaves, typed.limits)
    index32_safe = case.module.get("ORDINARY", True) and not is_large
    products = assumption_checks.small_products(typed.metadata, arguments.leaves)
    return LaunchAssumptions(
        index32_safe=index32_safe,
        block=block,
        unaliased_accumulators=small,
        exceeds_last_level_cache=case.module.get("PAST_CACHES", False),
        small_products=products if index32_safe else (),
    )


def arguments_of(case: Case) -> list[Any]:
    return list(case.module["arguments"]())


def run_seeds(seeds: Sequence[int], target: str) -> list[Outcome]:
    result = run_texts([text_of(s) for s in seeds], target, list(seeds))
    return [outcome for outcome in result if outcome.status not in MARKS]


def run_texts(texts: Sequence[str], target: str, seeds: Sequence[int] = ()) -> Iterator[Outcome]:
    """What becomes of each case on ``cpu``, ``cuda``, or ``nvrtc`` (compiled alone).

    First come those that do not get as far as a compiler; then PREPARED, and COMPILED, and the
    others in order.
    """
    prepared: list[_Prepared] = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CompileWarning)
        for text, seed in zip(texts, seeds or [-1] * len(texts), strict=True):
            result = _prepare(text, seed, target)
            if isinstance(result, Outcome):
                yield result
            else:
                prepared.append(result)
                yield UNDERSTOOD
        yield PREPARED
        yield from _TARGETS[target](prepared)


def _prepare(text: str, seed: int, target: str) -> _Prepared | Outcome:
    may_be_rejected = "MAY_BE_REFUSED = True" in text
    try:
        case = load(text)
        source, built, signature = typed(case)
        expected = arguments_of(case)
        extents = case.module["GRID"], case.module["BLOCK"]
        run_reference(source, signature, extents, as_parameters(case, signature, expected))
        if case.module.get("VARIANT"):
            case = Case(text, load(variant_of(text)).module)
            _, built, _ = typed(case)
        if target == "python":
            interpreted = InterpretedKernel(built.module)
            return _Prepared(case, seed, expected, [], len(built.warnings), interpreted)
        if target in CPU_BACKENDS and case.module.get("PUBLIC"):
            kernel, generated = _recorded(case, target)
            return _Prepared(case, seed, expected, [generated], len(built.warnings), kernel)
        kernel = None
        if target == "cuda" and case.module.get("PUBLIC") and seed % COMPILED_ALONE == 0:
            kernel = _as_declared(case, target)
        language = _LANGUAGES.get(target, TARGETS["cuda"])
        usual = _assumptions(case, built)
        launches = [usual] if target in _LANGUAGES else [usual, LaunchAssumptions()]
        texts = [generate(built.module, language, a, EXACT) for a in launches]
        return _Prepared(case, seed, expected, texts, len(built.warnings), kernel)
    except Undefined as error:
        return Outcome(text, "undefined", str(error), seed)
    except CompileError as error:  # which may be a ValueError, too
        if may_be_rejected:
            return Outcome(text, "undefined", str(error), seed)
        # numpy raises for these, too
        known = error.code == "constant-range" or any(t in str(error) for t in _RAISED_BY_NUMPY)
        status = "out-of-range" if known else "refused"
        return Outcome(text, status, f"{error.code}\n{error}", seed)
    except (UnsupportedByReferenceError, ValueError, OverflowError) as error:
        if may_be_rejected:  # a step of 0, three numbers for two places
            return Outcome(text, "undefined", str(error), seed)
        return crash(text, error, seed)
    except Exception as error:
        return crash(text, error, seed)


def crash(text: str, error: Exception, seed: int) -> Outcome:
    """Called where the error is caught."""
    detail = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
    return Outcome(text, "crash", detail, seed)


def as_parameters(case: Case, signature: Signature, arguments: list[Any]) -> list[Any]:
    """The arguments as the reference takes them: a record as the tuple of its fields."""
    leaves = case.kernel.launcher.flatten(arguments).leaves
    owners = iter([a.owner if isinstance(a, ArrayArgument) else a for a in leaves])
    return [unflatten(kind, owners) for kind in signature.parameters]


def typed(case: Case) -> tuple[Any, BuiltModule, Any]:
    """A case's source, its IR, and the signature of its launch."""
    launcher = case.kernel.launcher
    signature = launcher.signature(launcher.flatten(arguments_of(case)))
    return launcher.source, launcher.compiler.build(signature), signature


def _entries(prepared: Sequence[_Prepared]) -> list[tuple[str, str]]:
    """Each text with a name for its kernel that no other has."""
    result = []
    for number, p in enumerate(prepared):
        for variant, generated in enumerate(p.texts):
            entry = f"{generated.entry}_{number}_{variant}"
            result.append((entry, re.sub(rf"\b{generated.entry}\b", entry, generated.text)))
    return result


def _together(
    prepared: list[_Prepared],
    compiled: Callable[[list[tuple[str, str]]], CompiledBinary],
    run: Callable[[_Prepared, list[CompiledBinary]], Outcome],
) -> Iterator[Outcome]:
    """Compile all at once; where that is refused, each half by itself."""
    if not prepared:
        return
    entries = _entries(prepared)
    try:
        binary = compiled(entries)
    except RejectedCodeError as error:
        if len(prepared) == 1:
            yield Outcome(prepared[0].case.text, "c-refused", error.log, prepared[0].seed)
            return
        half = len(prepared) // 2
        for part in (prepared[:half], prepared[half:]):
            yield from _together(part, compiled, run)
        return
    yield COMPILED
    position = 0
    for p in prepared:
        mine = entries[position : position + len(p.texts)]
        position += len(p.texts)
        binaries = [
            CompiledBinary(binary.kind, entry, text, binary.data, binary.path, "")
            for entry, text in mine
        ]
        try:
            yield run(p, binaries)
        except Exception as error:
            yield crash(p.case.text, error, p.seed)


# a GPU's minimum instructions return either of 0.0 and -0.0
_MIN_OR_MAX = re.compile(r"\b(min|max|clamp|f?minimum|f?maximum|fmin|fmax)\w*\(")


def _judged(p: _Prepared, launch: Callable[[list[Any]], None], *, on_gpu: bool = False) -> Outcome:
    actual = arguments_of(p.case)
    launch(actual)
    module = p.case.module
    result = difference(
        p.expected,
        actual,
        module["APPROXIMATE"],
        precision=module.get("PRECISION", np.float64),
        signed_zeros=not (on_gpu and _MIN_OR_MAX.search(p.case.text)),
    )
    return Outcome(p.case.text, "wrong" if result else "same", result, p.seed, p.warned)


def _launch(p: _Prepared) -> Launch:
    module = p.case.module
    return Launch(
        extent(module["GRID"], "grid", "k"), extent(module["BLOCK"], "block", "k"), None, 0
    )


def _leaves(p: _Prepared, arguments: list[Any]) -> tuple[Any, ...]:
    """The arguments as runners take them: tuples item by item."""
    leaves: tuple[Any, ...] = p.case.kernel.launcher.flatten(arguments).leaves
    return leaves


def _names(p: _Prepared) -> tuple[str, ...]:
    return tuple(f"argument {n}" for n in range(len(p.texts[0].parameters)))


# ---- the interpreter -----------------------------------------------------------------------


def _in_python(prepared: list[_Prepared]) -> Iterator[Outcome]:
    yield COMPILED
    for p in prepared:
        try:
            yield _judged(p, partial(_interpret, p))
        except Exception as error:
            yield crash(p.case.text, error, p.seed)


def _interpret(p: _Prepared, actual: list[Any]) -> None:
    owners = [a.owner if isinstance(a, ArrayArgument) else a for a in _leaves(p, actual)]
    p.public.launch(p.case.module["GRID"], p.case.module["BLOCK"], 0, owners)


# ---- the CPU -------------------------------------------------------------------------------


def _on_cpu(prepared: list[_Prepared], *more: str) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        yield from _together(prepared, lambda e: _compiled_c(e, Path(folder), more), _run_cpu)


def _narrowed_on_cpu(prepared: list[_Prepared]) -> Iterator[Outcome]:
    """What CUDA's proofs say fits, run where an overflow kills."""
    return _on_cpu(
        prepared,
        "-fno-wrapv",
        "-fsanitize=signed-integer-overflow",
        "-fsanitize-undefined-trap-on-error",
    )


def _compiled_c(
    entries: list[tuple[str, str]], folder: Path, more: tuple[str, ...]
) -> CompiledBinary:
    """One library of many files, with the flags that kernels are compiled with."""
    names = []
    for entry, text in entries:
        (folder / f"{entry}.c").write_text(text)
        names.append(f"{entry}.c")
    library = folder / f"lib{len(entries)}_{len(list(folder.iterdir()))}.so"
    compiler = cc.find_compiler()
    flags = (
        *cc.general_flags(EXACT, compiler),
        *more,
        "-shared",
        "-pthread",
        "-o",
        str(library),
    )
    words = (*compiler.command, *flags, *names, "-lm")
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RejectedCodeError(str(compiler), "", ran.stderr)
    return CompiledBinary("so", entries[0][0], "", b"", str(library), "")


def _run_cpu(p: _Prepared, binaries: list[CompiledBinary]) -> Outcome:
    if p.public is not None:
        return _run_public(p, binaries[0])
    generated = p.texts[0]
    layout = layout_of(generated.parameters)
    runner: Runner = CpuRunner(_names(p), layout, CpuKernel(binaries[0]))
    if generated.has_coroutines:
        kernel = CoroutineKernel(binaries[0], "k", generated.waits)
        runner = CoroutineRunner(CpuRunner(_names(p), layout, kernel), kernel)

    def launch(actual: list[Any]) -> None:
        runner.run(_launch(p), _leaves(p, actual))

    return _judged(p, launch)


# ---- public launches on the CPU ------------------------------------------------------------


class _Recorded(BaseException):
    """Ends a launch where its text is generated."""


def _as_declared(case: Case, target: str, cache: bool = False) -> Any:
    declared = case.kernel
    return type(declared)(declared.python, backend=target, options=EXACT, cache=cache)


def _launch_publicly(kernel: Any, case: Case, arguments: list[Any]) -> None:
    limit = 1 if case.module.get("PAST_CACHES") else assumption_checks.CACHE_EXCEEDING_BYTES
    with mock.patch.object(assumption_checks, "CACHE_EXCEEDING_BYTES", limit):
        kernel[case.module["GRID"], case.module["BLOCK"]](*arguments)


def _recorded(case: Case, target: str) -> tuple[Any, KernelText]:
    """Return a kernel and the text that its first launch generates."""
    kernel, texts = _as_declared(case, target), []

    def record(*arguments: Any) -> NoReturn:
        texts.append(generate(*arguments))
        raise _Recorded

    with mock.patch.object(specialization, "generate", record), contextlib.suppress(_Recorded):
        _launch_publicly(kernel, case, arguments_of(case))
    return kernel, texts[0]


def _run_public(p: _Prepared, binary: CompiledBinary) -> Outcome:
    """Launch twice on the slow path, of which the second fills the dispatch table, and once from
    that, which coroutines do not use. Some kernels are also launched from the disk cache."""

    compile_alone = cc.compile

    def compiled(text: str, entry: str, **options: Any) -> CompiledBinary:
        return binary if text == p.texts[0].text else compile_alone(text, entry, **options)

    with (
        mock.patch.object(specialization, "generate", return_value=p.texts[0]),
        mock.patch.object(cc, "compile", compiled),
    ):
        outcome = _judged_publicly(p)
    return _run_cached(p) if not outcome.failed and p.seed % CACHED == CACHED - 1 else outcome


def _judged_publicly(p: _Prepared, *, on_gpu: bool = False) -> Outcome:
    """Launch on the slow path, which compiles; again, which fills the dispatch table; and by it."""

    def launch(actual: list[Any]) -> None:
        _launch_publicly(p.public, p.case, actual)
        if on_gpu:
            driver.synchronize()

    for _ in range(3):
        outcome = _judged(p, launch, on_gpu=on_gpu)
        if outcome.failed:
            return outcome
    return outcome


def _run_cached(p: _Prepared) -> Outcome:
    """Launch in a process that compiles, then here with what that has left in the cache."""
    kernel = _as_declared(p.case, p.public.backend, cache=True)

    def launch(actual: list[Any]) -> None:
        _launch_publicly(kernel, p.case, actual)

    child = os.fork()
    if child == 0:
        try:
            launch(arguments_of(p.case))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    compiled_again = AssertionError("the binary is not taken from the cache")
    with mock.patch.object(build, "compile_job", side_effect=compiled_again):
        return _judged(p, launch)


# ---- CUDA ----------------------------------------------------------------------------------


def _compiled_cuda(entries: list[tuple[str, str]]) -> CompiledBinary:
    """One program; each kernel's helpers and device functions in a namespace of its own."""
    headers: dict[str, None] = {}
    parts = []
    for entry, text in entries:
        lines = text.splitlines()
        headers |= dict.fromkeys(line for line in lines if line.startswith("#include"))
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        parts.append(f"namespace space_{entry} {{\n{body}\n}}\n")
    arch = driver.arch() if driver.available() else ARCH
    text = "\n".join([*headers, *parts])
    return nvrtc.compile(text, entries[0][0], arch, options=EXACT, cache=False)


def _with_nvrtc(prepared: list[_Prepared]) -> Iterator[Outcome]:
    def compiled_alone(p: _Prepared, _: list[CompiledBinary]) -> Outcome:
        return Outcome(p.case.text, "same", "", p.seed)

    return _together(prepared, _compiled_cuda, compiled_alone)


def _on_cuda(prepared: list[_Prepared]) -> Iterator[Outcome]:
    return _together(prepared, _compiled_cuda, _run_cuda)


def _run_cuda(p: _Prepared, binaries: list[CompiledBinary]) -> Outcome:
    if p.public is not None:
        return _judged_publicly(p, on_gpu=True)
    for generated, binary in zip(p.texts, binaries, strict=True):
        runner = CudaRunner(
            "k", generated.written, layout_of(generated.parameters), CudaKernel(binary)
        )

        def launch(actual: list[Any], runner: CudaRunner = runner) -> None:
            runner.run(_launch(p), _leaves(p, actual))
            driver.synchronize()

        outcome = _judged(p, launch, on_gpu=True)
        if outcome.failed:
            return outcome
    return outcome


_TARGETS: dict[str, Callable[[list[_Prepared]], Iterator[Outcome]]] = {
    "python": _in_python,
    "cpu": _on_cpu,
    "cpu-resumable": _on_cpu,
    "narrowed": _narrowed_on_cpu,
    "strips": _on_cpu,
    "cuda": _on_cuda,
    "nvrtc": _with_nvrtc,
}
