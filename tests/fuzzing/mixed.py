"""Kernels made of the rows of ``constructs.py``: several in one kernel, under conditions and in
loops, with names that meet and parts that are exchanged for others.

Most of what a row shows is nowhere else in the grammar: slices as targets, ``reshape``, tuples that
are compared, named tuples, views that branches choose. Many of these kernels are refused, or mean
nothing; the rest has one meaning everywhere.
"""

from __future__ import annotations

import ast
import copy
import random
import warnings
from collections.abc import Sequence
from textwrap import indent

from support.language_constructs import CONSTRUCTS, HEADER

_LEFT_OUT = ("print", "squared", "not_defined")  # what has an order, C alone, what is refused
_ROWS = [
    ast.parse(row.body) for row in CONSTRUCTS if not any(word in row.body for word in _LEFT_OUT)
]
_INEXACT = ("atan2", "sin", "exp", "log", "hypot", "cmath", "**", "pow", "sqrt", "dist", "abs")
_INEXACT += ("uniform",)


def _parts(text: str) -> list[ast.expr]:
    result = [part for line in text.strip().splitlines() for part in line.split("; ")]
    return [ast.parse(part, mode="eval").body for part in result]


_NUMBERS = _parts("""
n; x; i; k; s; y; p; q; True; 1; 0; -1; 2.5; 300; a[i]; b[i]; m[i, 1]; m[0, 2]; len(a); a.shape[0]
m.shape[1]; i % 3; i - 2; n - i; -x; a[-1]; a[i - 3]; i > 2; i % 2 == 0; m[i][1]; b[i] * 2; out[i]
np.float32(2); np.int8(100); np.uint8(i); np.float16(x); x if i % 2 else n; (i and x); scaled(i)
a[i] * 0.1; clamp(x, 1, i); total(i, 1); ORIGIN.x; sum(OFFSETS); min(a[i], x); (y := i + 1); ~i
int(a[i]); float(i); bool(i); np.int64(2**62); 2**40; -(2**63); 1 << i; np.uint64(2**63); not i
x // 1; a[i] % 2; round(x)
""")
_OTHERS = _parts("""
(1, i); (i, (x, n)); m[i]; a[1:]; a[::-1]; m.T; m[:, 1]; b; a; complex(i, x); divmod(i, 3); t; row
part; OFFSETS; WEIGHTS; ORIGIN; divided(i + 7, 3)
""")
_HEADS = (
    "if i % 2:", "if n > 3:", "if a[i] > 2:", "if i < 5:", "if not (x > 3 or i == 2):",
    "for r in range(2):", "for r in range(i % 3):", "for r in (i, 2):", "for r in OFFSETS:",
    "for r in reversed(range(n)):", "for r, e in enumerate(b):",
    "while out[i] < 3 and a[i] > 1:",
)  # fmt: skip
_NAMES = ("y", "k", "s", "t", "p", "q", "v", "row", "part")


class _Mixing(ast.NodeTransformer):
    """Adds to ``out[i]`` what is stored there, and exchanges some of what is read."""

    def __init__(self, rng: random.Random, share: float) -> None:
        self.rng, self.share = rng, share
        renamed = rng.sample(_NAMES, 2) if rng.random() < 0.3 else []
        self.names = dict([renamed]) if renamed else {}

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        plain = len(node.targets) == 1 and ast.unparse(node.targets[0]) == "out[i]"
        if plain and self.rng.random() < 0.8:
            return ast.AugAssign(node.targets[0], ast.Add(), node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, name, [self._exchanged(node, name, item) for item in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self._exchanged(node, name, value))
        return super().visit(node)

    def _exchanged(self, owner: ast.AST, field: str, node: ast.AST) -> ast.AST:
        read = isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", _LOAD), ast.Load)
        named = field in ("func", "keywords") or isinstance(owner, (ast.Attribute, ast.pattern))
        owned = field == "value" and isinstance(owner, (ast.Subscript, ast.Starred))
        if not read or named or owned or self.rng.random() > self.share:
            return node
        return copy.deepcopy(self.rng.choice(_NUMBERS if self.rng.random() < 0.9 else _OTHERS))


_LOAD = ast.Load()


def _block(rng: random.Random) -> str:
    """A row, by itself or under a condition or in a loop."""
    mixing = _Mixing(rng, rng.choice((0, 0, 0.03, 0.1)))
    tree = mixing.visit(copy.deepcopy(rng.choice(_ROWS)))
    text = ast.unparse(ast.fix_missing_locations(tree))
    if rng.random() < 0.5:
        return text
    head = rng.choice(_HEADS)
    lines = [head, indent(text, "    ")]
    if head.startswith("while"):
        lines += ["    out[i] += 1", "    if out[i] > 50: break"]
    if not head.startswith("if") and rng.random() < 0.3:
        lines += [f"    if {rng.choice(('i % 4 == 1', 'a[i] < 3', 'n > 2 + i'))}:"]
        lines += [f"        {rng.choice(('break', 'continue'))}"]
    if rng.random() < 0.2:
        lines += ["else:", indent(ast.unparse(rng.choice(_ROWS)), "    ")]
    return "\n".join(lines)


def mixed_text(seed: int) -> str:
    """The kernel that a seed draws: the first that is Python."""
    rng = random.Random(seed)
    while True:
        body = "\n".join(_block(rng) for _ in range(rng.choice((1, 2, 2, 3, 4))))
        text = "\n".join([_HEAD, indent(body, "    "), *_footer(rng, body)]) + "\n"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                compile(text, "mixed", "exec")
        except (SyntaxError, ValueError):  # ValueError: the parts of an f-string
            continue
        return text


_HEAD = f"""\
import ml_dtypes

from pycu2c import cuda, device, kernel
{HEADER}

@kernel
def fuzzed(a, b, m, n, x, out):
    i = cuda.grid(1)"""


def _footer(rng: random.Random, body: str) -> Sequence[str]:
    grid, block = rng.choice(((1, 8), (2, 4), (8, 1), (1, 7)))
    kind = rng.choice(("", "", "", "[::1]", ".astype(np.float16)", ".astype(np.float64)"))
    whole = rng.choice(("np.int32", "np.int32", "np.uint8", "np.int64", "np.uint64", "np.int8"))
    laid = rng.choice(("", "", ".T.copy().T", ".copy()[::-1]"))
    n = rng.choice(("5", "5", "np.int32(5)", "np.uint8(5)", "np.float32(5)"))
    x = rng.choice(("2.5", "2.5", "np.float32(2.5)", "np.float16(2.5)", "-7.75"))
    inexact = any(word in body for word in _INEXACT)
    return (
        "",
        "",
        f"GRID, BLOCK = {(grid, 1, 1)}, {(block, 1, 1)}",
        f"APPROXIMATE = {[2, 5] if inexact else []}",
        "PRECISION = np.float32",  # of complex64, which float64 arrays may hold the parts of
        f"KNOWN_BLOCK, OWN_ACCUMULATORS = {rng.random() < 0.7}, {rng.random() < 0.5}",
        f"PAST_CACHES = {rng.random() < 0.5}",
        f"ORDINARY = {rng.random() < 0.8}",
        "MAY_BE_REFUSED = True",
        "",
        "",
        "def arguments():",
        f"    a = (np.arange(8) * 0.75 + 0.5).astype(np.float32){kind}",
        f"    b = np.array([3, 1, 4, 1, 5, 9, 2, 6], {whole})",
        f"    m = (np.arange(24, dtype=np.float64).reshape(8, 3) / 2){laid}",
        f"    return (a, b, m, {n}, {x}, np.zeros(8))",
    )
