"""Launch planted kernels with checks: the defect is found, and nothing in the right kernel."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from fuzzing.cases import Case, load
from fuzzing.checking import Undefined, run_reference
from fuzzing.comparing import difference
from fuzzing.planting import wrong_text
from fuzzing.running import EXACT, Outcome, arguments_of, as_parameters, crash, typed
from pycu2c import CheckError, Finding
from pycu2c.base.values import scalar_of
from pycu2c.declarations.options import CheckGroup, Options
from pycu2c.kernels.kernel import Kernel
from pycu2c.ops.operators import FLOORDIV, MOD, POW, SHL, SHR, Operator
from pycu2c.toolchain.cc import cc
from support.defects import marks_of
from support.sample_types.samples import NoSample

# of right operands that have a result, of integers
_LEAST = {FLOORDIV: -np.inf, MOD: -np.inf, POW: 0, SHL: 0, SHR: 0}
ALL: tuple[CheckGroup, ...] = ("memory", "race", "init", "sync", "arithmetic")
# the checks are in the IR; C code that runs once need not be fast, but be compiled fast
_FLAGS = tuple("-O0" if flag == "-O3" else flag for flag in cc.FLAGS)


def run_planted(texts: Sequence[str], seeds: Sequence[int]) -> Iterator[Outcome]:
    """Return the outcome of each text: ``missed``, ``false``, ``wrong``, ``crash`` are failures."""
    for text, seed in zip(texts, seeds, strict=True):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield _judged(text, seed)


def _judged(text: str, seed: int) -> Outcome:
    try:
        case = load(text)
        _require_valid(case)
    except (Undefined, NoSample) as error:
        return Outcome(text, "undefined", str(error), seed)
    except Exception as error:
        if "MAY_BE_REFUSED = True" in text:
            return Outcome(text, "undefined", str(error), seed)
        return crash(text, error, seed)
    try:
        with mock.patch.object(cc, "FLAGS", _FLAGS):
            status, detail = _compare(case)
    except Exception as error:
        return crash(text, error, seed)
    return Outcome(text, status, detail, seed)


def _compare(case: Case) -> tuple[str, str]:
    plain, _ = _launch(case, ())
    checked, found = _launch(case, ALL)
    if found:
        return f"false {found[0].kind}", "\n".join(map(str, found))
    differs = difference(plain, checked, case.module["APPROXIMATE"])
    if differs:
        return "wrong", differs
    kind = case.module["PLANTED"]
    _, found = _launch(load(wrong_text(case.text)), ALL)
    if any(_is_planted(finding, case.text, kind) for finding in found):
        return "same", ""
    return f"missed {kind}", "\n".join(map(str, found)) or "no finding"


def _launch(case: Case, groups: tuple[CheckGroup, ...]) -> tuple[list[Any], tuple[Finding, ...]]:
    options = Options(fmad=EXACT.fmad, check=groups)
    launched = Kernel(case.kernel.python, backend="cpu", options=options, cache=False)
    arguments = arguments_of(case)
    try:
        launched[case.module["GRID"], case.module["BLOCK"]](*arguments)
    except CheckError as error:
        return arguments, error.findings
    return arguments, ()


def _is_planted(finding: Finding, text: str, kind: str) -> bool:
    marked = {mark: set() for mark in ("finding", "other")}
    for line, code in enumerate(text.splitlines(), 1):
        for mark in marks_of(code):
            marked[mark].add(line)
    if finding.kind != kind or kind != "race":
        return finding.kind == kind and finding.line in marked["finding"]
    lines = finding.line, finding.other_line
    return any(a in marked["finding"] and b in marked["other"] for a, b in (lines, lines[::-1]))


# ---- validity ----------------------------------------------------------------------------------


def _require_valid(case: Case) -> None:
    """Raise Undefined if the right kernel is wrong itself, by the oracle."""
    if "raise " in case.text:
        raise Undefined("a thread may raise an exception")
    if "atomic.cas" in case.text:  # which the reference does not record: plain reads race with it
        raise Undefined("an element may be read while others exchange it")
    source, built, signature = typed(case)
    if any("p_some" not in str(warning) for warning in built.warnings):
        raise Undefined("a variable may be read before it is assigned")
    arguments = as_parameters(case, signature, arguments_of(case))
    extents = case.module["GRID"], case.module["BLOCK"]
    with _strict_operators():
        run_reference(source, signature, extents, arguments)


@contextmanager
def _strict_operators() -> Iterator[None]:
    """Raise Undefined where an operator has a result that checks report."""
    compute = Operator.reference

    def strict(op: Operator, a: Any, b: Any) -> Any:
        left, right = scalar_of(a), scalar_of(b)
        common = op.operands(left, right) if left and right else None
        if op in _LEAST and common is not None and common.dtype.is_integer:
            most = common.dtype.bits - 1 if op in (SHL, SHR) else np.inf
            if (op in (FLOORDIV, MOD) and b == 0) or not _LEAST[op] <= b <= most:
                raise Undefined(f"{a} {op.symbol} {b}")
        return compute(op, a, b)

    with mock.patch.object(Operator, "reference", strict):
        yield
