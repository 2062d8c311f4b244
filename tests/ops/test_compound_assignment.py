"""``x = T(W(x) op v)``, which C may write as ``x op= v``, has the meaning of the written types.

C computes ``x op= v`` in int for 8 and 16 bits, and a shift in the type of ``x`` alone. Each pair
of a variable's type and the type of the computation is run.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.kernels_from_text import module_from
from support.launching import run
from support.targets import TARGETS

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FUNCTIONS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "//": np.floor_divide, "%": np.mod,
    ">>": np.right_shift, "<<": np.left_shift,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
}  # fmt: skip
# an operand whose exact value C does not see without a conversion; no value of it is zero
OPERANDS = ["{W}(3)", "~{W}(cuda.blockDim.x)", "({W}(9) - {W}(cuda.blockDim.x))"]
REPETITIONS = 2  # so that the variable is assigned to itself

HEAD = """
from pycu2c import cuda, kernel
from pycu2c.types import *

@kernel(block=(4,))
def k(given, out):
    i = cuda.grid(1)
"""


def statement(name: str, computed_in: str, op: str, operand: str, place: int) -> str:
    value = f"{computed_in}(x) {op} {operand.format(W=computed_in)}"
    return f"""
    x = given[i]
    for _ in range({REPETITIONS}):
        x = {name}({value})
    out[{place}, i] = x
"""


def expected(x: np.ndarray, computed_in: str, op: str, operand: str) -> np.ndarray:
    """Return what NumPy computes, with the floor division and shifts of Python."""
    v = np.dtype(computed_in).type({OPERANDS[0]: 3, OPERANDS[1]: 4, OPERANDS[2]: 5}[operand])
    v = ~v if operand == OPERANDS[1] else v
    result = x
    for _ in range(REPETITIONS):
        result = FUNCTIONS[op](result.astype(computed_in), v).astype(x.dtype)
    return result


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", INTS)
def test_types_of_compound_assignments(name: str, target: str, tmp_path: Path) -> None:
    cases = [(w, op, v) for w in INTS for op in FUNCTIONS for v in OPERANDS]
    # a negative shift count is undefined in NumPy
    cases = [(w, op, v) for w, op, v in cases if not (op in ("<<", ">>") and v == OPERANDS[1])]
    text = HEAD + "".join(statement(name, *case, place) for place, case in enumerate(cases))
    given = np.array([77, 100, -3, -1]).astype(name)
    kernel = module_from(text, tmp_path).k
    _, out = run(kernel, (1, 4), (given, np.zeros((len(cases), 4), name)), target)
    wanted = [expected(given, *case).tolist() for case in cases]
    assert [(*case, *x) for case, x in zip(cases, wanted, strict=True)] == [
        (*case, *x) for case, x in zip(cases, out.tolist(), strict=True)
    ]
