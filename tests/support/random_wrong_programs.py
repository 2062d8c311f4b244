"""Kernels that are mostly wrong: the constructs of the language with parts of them exchanged.

Each is made of a seed. What they have in common: pycu2c compiles them or says what is wrong.
"""

from __future__ import annotations

import ast
import copy
import random
import warnings
from collections.abc import Iterator

from support.language_constructs import CONSTRUCTS, HEADER

TYPES = (
    "float32[:], int32[:], float64[:, :], complex64[:], float64[:], int, float, (int, float32[:])"
)

HEAD = f'''
from pycu2c import bool_, cuda, device, float32, int32, kernel
{HEADER}
LIST, DICT, TABLE = [1, 2], {{"x": 1}}, np.arange(4.0)

@device
def nothing(v):
    pass

@kernel(signature="{TYPES}, None", backend="cpu")
def k(a, b, m, z, out, n, x, t, w):
    i = cuda.grid(1)
'''

EXPRESSIONS = """
a; b; m; n; x; i; t; w; z; True; 1; 0; -1; 2.5; 1j; 300; 2**70; "s"; (1, 2); [1, 2, 3]; (); []
None; a[0]; m[0]; m[0, 1]; a[1:3]; m[:, 0]; m.T; a.shape; a.dtype; a.sum; a.size; t[0]; t[1]
t[1][0]; ...; len(a); len; cuda; math; np; float32; np.float32; cuda.grid; cuda.grid(1)
cuda.grid(2); math.sqrt; cuda.threadIdx; cuda.threadIdx.x; math.sqrt(x); nothing; nothing(1)
scaled; scaled(n); missing; Point; Point(1, 2); TABLE; TABLE[0]; LIST; DICT; range(3); range(n)
abs; max; np.add; cuda.syncthreads(); cuda.shared.array(4, float32)
cuda.local.array((2, 2), int32); cuda.atomic.add(a, 0, x); b"x"; {1}; a == b; not a; -a; ~x
a @ m; [v * 2 for v in (1, 2)]; [v * 2 for v in a]; sum(v * 2 for v in (1, 2)); zip(a, b)
enumerate(a); f"{x}"; {1: 2}; (y := 3); x.real; z[0].real; any(a); all((1, 0)); int(x)
divmod(n, 2); round(x, 1); complex(x, 1); str(x); isinstance(x, int); pow(x, 2); lambda v: v * 2
x if n else a; x if n else (1, 2); n and x; a or b; 1 < n < 5; n in (1, 2); w is None; n in a
"""

STATEMENTS = """
x = a; a = x; n = None; t = 1; x, n = n, x; a, b = b, a; del x; return; return x; x += a
a[0] += t; t[0] = 1; x.y = 1; pass; raise ValueError; assert x, "m"; x: float32 = 1; x: int
import os; x = y = 2; cuda.syncthreads(); f = lambda q: q + x; x = [q for q in a]
global missing; break; continue
"""

BLOCKS = [
    "def f(q): return q\nx = f(1)",
    "for q in a: x = q",
    "for q in t: x = q",
    "for q, r in zip(a, b): x = r",
    "while n: n -= 1",
    "match n:\n    case 1: x = 1\n    case (1, 2): x = 2\n    case _: x = 3",
    "if n: x = (1, 2)",
    "if n: t = a",
    "with a: pass",
]


def programs(seed: int, count: int) -> Iterator[str]:
    """Texts of modules with a kernel ``k``, all of them Python."""
    chance = random.Random(seed)
    while count:
        tree = ast.parse(chance.choice(CONSTRUCTS).body)
        for _ in range(chance.choice((1, 1, 2, 3))):
            tree = _changed(tree, chance)
        text = _text(tree)
        if text is not None:
            count -= 1
            yield text


def _text(tree: ast.Module) -> str | None:
    """The text of a program with this body; None if Python has no such program."""
    try:
        body = ast.unparse(ast.fix_missing_locations(tree))
        text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(text, "wrong", "exec")
    except (SyntaxError, ValueError):  # ValueError: the parts of an f-string are no expressions
        return None
    return text


def _changed(tree: ast.Module, chance: random.Random) -> ast.Module:
    """An expression is another one, or a statement is added."""
    if chance.random() < 0.75:
        places = sum(map(_is_read, ast.walk(tree)))
        return _Exchange(chance.randrange(places), chance).visit(tree) if places else tree
    blocks = [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list)]
    block = chance.choice(blocks)
    place = chance.randrange(len(block) + 1)
    block[place:place] = ast.parse(chance.choice(_ADDED)).body
    return tree


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


class _Exchange(ast.NodeTransformer):
    """Puts another expression in the place of one."""

    def __init__(self, place: int, chance: random.Random) -> None:
        self.left, self.chance = place, chance

    def visit(self, node: ast.AST) -> ast.AST:
        if _is_read(node):
            self.left -= 1
            if self.left == -1:
                return copy.deepcopy(self.chance.choice(_OTHERS))
        return self.generic_visit(node)


def _parts(text: str) -> list[str]:
    return [part for line in text.strip().splitlines() for part in line.split("; ")]


_OTHERS = [ast.parse(part, mode="eval").body for part in _parts(EXPRESSIONS)]
_ADDED = [*_parts(STATEMENTS), *BLOCKS]
