"""The parts of Python that a kernel cannot have, one row each: what is wrong, what to write."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """``keyword`` is what gets the carets where the whole statement would be many lines."""

    code: str
    text: str
    help: str
    keyword: str = ""


_COLLECT = "make an array with cuda.local.array(shape, dtype) and assign to its elements"
_OUTSIDE = "define it outside of the kernel as a @device function, and call that"

_TRY = Refusal("exceptions", "GPU code has no exceptions", "test the condition with `if`", "try")

STATEMENTS: dict[type[ast.stmt], Refusal] = {
    ast.Try: _TRY,
    ast.TryStar: _TRY,
    ast.Raise: Refusal(
        "exceptions",
        "GPU code has no exceptions",
        "write a number that says what is wrong to an array, `error[0] = 1`, and `return`",
    ),
    ast.Assert: Refusal(
        "exceptions",
        "GPU code has no exceptions",
        "test with `if` and write what you find to an array, or check before the launch",
    ),
    ast.With: Refusal(
        "context-manager",
        "there is nothing to open in a kernel",
        "use it around the launch, or write the statements of its body alone",
        "with",
    ),
    ast.FunctionDef: Refusal("nested-function", "a function inside a kernel", _OUTSIDE, "def"),
    ast.AsyncFunctionDef: Refusal(
        "async", "GPU code cannot wait for other tasks", _OUTSIDE, "async def"
    ),
    ast.ClassDef: Refusal(
        "class",
        "a class inside a kernel",
        "keep each field in a variable or an array of its own",
        "class",
    ),
    ast.Import: Refusal("import", "an import inside a kernel", "move it to the top of the file"),
    ast.ImportFrom: Refusal(
        "import", "an import inside a kernel", "move it to the top of the file"
    ),
    ast.Global: Refusal(
        "global-statement",
        "a kernel cannot assign to Python's globals",
        "pass an array of one element and write `counter[0] = …`; reading needs no `global`",
    ),
    ast.Nonlocal: Refusal(
        "global-statement",
        "a kernel cannot assign to variables of the function around it",
        "pass an array of one element and write `counter[0] = …`; reading needs no `nonlocal`",
    ),
    ast.Delete: Refusal(
        "delete",
        "a kernel's variables need no `del`",
        "leave the line out; a name can be assigned anew, even with another type",
    ),
    ast.Match: Refusal("match", "this is `match`", "write `if x == …:` and `elif`", "match"),
}

EXPRESSIONS: dict[type[ast.expr], Refusal] = {
    ast.NamedExpr: Refusal(
        "walrus",
        "this assigns inside an expression",
        "assign on a line of its own before it; for a loop's condition, use "
        "`while True:` with `if …: break`",
    ),
    ast.Lambda: Refusal(
        "nested-function",
        "a function inside a kernel",
        f"write the expression where it is needed, or {_OUTSIDE}",
    ),
    ast.List: Refusal("list", "GPU code has no lists", _COLLECT),
    ast.Set: Refusal(
        "dict-set",
        "GPU code has no sets",
        "mark members in an array that is indexed by integers, `seen[x] = True`",
    ),
    ast.Dict: Refusal(
        "dict-set",
        "GPU code has no dicts",
        "use one variable for each key, or an array that is indexed by integers",
    ),
    ast.ListComp: Refusal(
        "comprehension", "GPU code has no lists", f"{_COLLECT} in a `for` over range(...)"
    ),
    ast.SetComp: Refusal(
        "comprehension",
        "GPU code has no sets",
        "mark members in an array that is indexed by integers, in a `for` over range(...)",
    ),
    ast.DictComp: Refusal(
        "comprehension", "GPU code has no dicts", f"{_COLLECT} in a `for` over range(...)"
    ),
    ast.GeneratorExp: Refusal(
        "comprehension",
        "GPU code has no generators",
        "write a `for` over range(...) that adds to a variable, `total += …`",
    ),
    ast.Yield: Refusal(
        "generator", "GPU code has no generators", "store each value in an array, `out[i] = …`"
    ),
    ast.YieldFrom: Refusal(
        "generator", "GPU code has no generators", "store each value in an array, `out[i] = …`"
    ),
    ast.JoinedStr: Refusal(
        "string",
        "GPU code makes no strings",
        "store the numbers in an array, and format them after the launch",
    ),
    ast.Starred: Refusal("starred", "this stands for several items", "write the items one by one"),
    ast.Tuple: Refusal(
        "tuple-place",
        "a tuple cannot stand here",
        "use its items one by one, each in an expression of its own",
    ),
}

COMPARISONS: dict[type[ast.cmpop], Refusal] = {
    ast.In: Refusal("comparison", "this is `in`", "compare with each item: `x == a or x == b`"),
    ast.NotIn: Refusal(
        "comparison", "this is `not in`", "compare with each item: `x != a and x != b`"
    ),
    ast.Is: Refusal("comparison", "this is `is`", "compare values with `==`"),
    ast.IsNot: Refusal("comparison", "this is `is not`", "compare values with `!=`"),
}

UNKNOWN = Refusal(
    "subset",
    "this part of Python cannot be compiled",
    "write it with assignments, `if`, `while` and `for` over range(...)",
)
NONE_TEST = Refusal(
    "comparison",
    "a kernel's values are never None",
    "pass a flag that tells whether the value is there, or write two kernels",
)
NONE = Refusal("none", "this is None", "use a number that cannot occur otherwise, such as -1")
STRING = Refusal(
    "string", "GPU code has no strings", "use an int for each case; names can be global constants"
)
COMPLEX = Refusal(
    "complex", "this is a complex number", "keep the real and the imaginary part in two floats"
)
TOO_WIDE = Refusal(
    "constant-range",
    "no integer type holds this number",
    "int64 holds -2**63 to 2**63 - 1, uint64 up to 2**64 - 1; write a float, such as 1e20",
)
PRINT = Refusal(
    "print",
    "GPU code cannot print",
    "store what you want to see in an array, and print that after the launch",
)
CALLEE = Refusal(
    "call", "this is not the name of a function", "call a function by its name: `f(x)`, `math.f(x)`"
)
KEYWORDS = Refusal("starred", "this stands for several arguments", "write the arguments one by one")
MATMUL = Refusal(
    "matmul", "this is `@`", "write the loops, `total += a[i, k] * b[k, j]`, or do it on the host"
)
SLICE = Refusal("slice", "this is a slice", "write the loop over indices: `for i in range(n):`")
NEW_AXIS = Refusal("slice", "this makes a view of an array", "write one index for each axis")
TARGET = Refusal(
    "assignment-target",
    "a kernel cannot assign to this",
    "assign to a name, `x = …`, or to an element, `array[i] = …`",
)
TUPLE_RESULT = Refusal(
    "tuple-place",
    "a function returns one number",
    "return one number, and store the others in an array that the caller passes",
)
DECORATOR = Refusal(
    "nested-function", "a decorator inside a kernel", "leave it out: the function needs none"
)
DEFAULT = Refusal(
    "parameter-kind", "this is a default", "remove the default, and pass the value in every call"
)
POSITIONAL_ONLY = Refusal(
    "parameter-kind",
    "this is in front of `/`",
    "remove the `/`: calls pass every value by position",
)
KEYWORD_ONLY = Refusal(
    "parameter-kind", "this is passed by keyword", "move it before the `*`, and pass it by position"
)
REST = Refusal(
    "parameter-kind",
    "this takes any number of arguments",
    "name each parameter; many values of one type go into an array",
)
LOOP_ELSE = Refusal(
    "loop-else",
    "this runs when no `break` did",
    "set a flag before the loop and in front of `break`, and test it after the loop",
)
LOOP_TARGET = Refusal(
    "for-range", "range(...) gives one number at a time", "write one name: `for i in range(n):`"
)
ELLIPSIS = Refusal("unused-value", "this does nothing", "write `pass`")
REMARK = Refusal("unused-value", "this string does nothing", "write it as a comment, `# …`")
UNUSED = Refusal("unused-value", "this value is not used", "assign it, `x = …`, or remove the line")


def counted(iterable: ast.expr) -> str:
    """What to write instead of a loop over something that is not a range."""
    match iterable:
        case ast.Call(func=ast.Name(id="enumerate" | "zip"), args=[ast.Name(), *_] as arrays):
            names = [ast.unparse(a) for a in arrays if isinstance(a, ast.Name)]
        case ast.Name() | ast.Attribute() | ast.Subscript():
            names = [ast.unparse(iterable)]
        case ast.Call(func=ast.Name(id="reversed")):
            return "count down: `for i in range(n - 1, -1, -1):`"
        case ast.List() | ast.Tuple() | ast.Set():
            return "write the statements once for each item, or put the items into an array"
        case _:
            return "count, and index inside the loop: `for i in range(n):`"
    reads = ", ".join(f"`{name}[i]`" for name in names)
    return f"write `for i in range(len({names[0]})):` and read {reads}"
