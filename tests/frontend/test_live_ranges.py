"""Live ranges: which assignments form one variable, and reads of unassigned variables."""

from __future__ import annotations

import ast
import re
import textwrap
import traceback
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycu2c.frontend.scope.live_ranges import LiveRanges, live_ranges
from pycu2c.frontend.statements.unroll import LoopUnroller, TripCount, UnrolledIteration


def function_of(text: str) -> ast.FunctionDef:
    body = textwrap.indent(textwrap.dedent(text).strip(), "    ")
    (tree,) = ast.parse(f"def f(p, q):\n{body}").body
    assert isinstance(tree, ast.FunctionDef)
    return tree


def renamed(text: str) -> str:
    """The body of a function in which each name is that of its variable, ``x__1`` for x.1."""
    tree = function_of(text)
    rename(tree, live_ranges(tree))
    return shown(tree)


def shown(tree: ast.FunctionDef) -> str:
    return "\n".join(ast.unparse(statement) for statement in tree.body)


def rename(tree: ast.AST, ranges: LiveRanges) -> None:
    for node in ast.walk(tree):
        name = ranges.names.get(id(node), "").replace(".", "__")
        if isinstance(node, ast.Name) and name:
            node.id = name
        elif isinstance(node, ast.Name) and any(node is read for read in ranges.undefined):
            node.id += "__nothing"  # a name that Python does not find either
        elif isinstance(node, ast.MatchAs) and name:
            node.name = name


def unassigned_reads(text: str) -> tuple[list[str], list[str]]:
    """``name:line`` of the reads that may be, and that are, unassigned; lines of the body."""
    ranges = live_ranges(function_of(text))
    maybe = [f"{node.id}:{node.lineno - 1}" for node, _ in ranges.maybe_undefined]
    return maybe, [f"{node.id}:{node.lineno - 1}" for node in ranges.undefined]


SPLITS = {
    "separate ranges": (
        "x = 5\nk = x // 2\nx = 1.5\nuse(x)",
        "x = 5\nk = x // 2\nx.1 = 1.5\nuse(x.1)",
    ),
    "a parameter assigned anew": ("use(p)\np = 1.5\nuse(p)", "use(p)\np.1 = 1.5\nuse(p.1)"),
    "augmented keeps its variable": ("x = 1\nx += 2\nuse(x)", "x = 1\nx += 2\nuse(x)"),
    "the value reads the old one": ("x = 1\nx = x + 1\nuse(x)", "x = 1\nx.1 = x + 1\nuse(x.1)"),
    "branches meet": (
        "if p:\n    x = 1\nelse:\n    x = 2\nuse(x)",
        "if p:\n    x = 1\nelse:\n    x = 2\nuse(x)",
    ),
    "branches do not meet": (
        "if p:\n    x = 1\n    use(x)\nelse:\n    x = 2\n    use(x)",
        "if p:\n    x = 1\n    use(x)\nelse:\n    x.1 = 2\n    use(x.1)",
    ),
    "a value of the round before": (
        "x = 1\nwhile p:\n    use(x)\n    x = 2",
        "x = 1\nwhile p:\n    use(x)\n    x = 2",
    ),
    "a value of the same round": (
        "x = 1\nuse(x)\nwhile p:\n    x = 2\n    use(x)",
        "x = 1\nuse(x)\nwhile p:\n    x.1 = 2\n    use(x.1)",
    ),
    "continue carries a value": (
        "x = 1\nwhile p:\n    use(x)\n    x = 2\n    if q: continue\n    x = 3\n    x = 4",
        "x = 1\nwhile p:\n    use(x)\n    x = 2\n    if q: continue\n    x.1 = 3\n    x = 4",
    ),
    "swap": ("x, y = (p, q)\nx, y = (y, x)\nuse(x)", "x, y = (p, q)\nx.1, y.1 = (y, x)\nuse(x.1)"),
    "starred": ("x, *y = p\nuse(y)\n(y, [x]) = q", "x, *y = p\nuse(y)\ny.1, [x.1] = q"),
    "the loop's variable": (
        "for i in range(p):\n    use(i)\nfor i in range(q):\n    use(i)",
        "for i in range(p):\n    use(i)\nfor i.1 in range(q):\n    use(i.1)",
    ),
    "the loop's variable after an empty loop": (
        "i = 0\nfor i in range(p):\n    pass\nuse(i)",
        "i = 0\nfor i in range(p):\n    pass\nuse(i)",
    ),
    "a loop that is not empty": (
        "i = 0.5\nuse(i)\nfor i in range(3, 0, -1):\n    pass\nuse(i)",
        "i = 0.5\nuse(i)\nfor i.1 in range(3, 0, -1):\n    pass\nuse(i.1)",
    ),
    "for-else runs when nothing breaks": (
        "x = 1\nfor i in range(p):\n    if q:\n        break\nelse:\n    x = 2\nuse(x)",
        "x = 1\nfor i in range(p):\n    if q:\n        break\nelse:\n    x = 2\nuse(x)",
    ),
    "for-else that always runs": (
        "x = 1\nfor i in range(p):\n    pass\nelse:\n    x = 2\nuse(x)",
        "x = 1\nfor i in range(p):\n    pass\nelse:\n    x.1 = 2\nuse(x.1)",
    ),
    "del starts anew": ("x = 1\ndel x\nx = 2\nuse(x)", "x = 1\ndel x\nx.1 = 2\nuse(x.1)"),
    "a bare annotation declares": (
        "x: int\nx = 1\nuse(x)\nx = 2\nuse(x)",
        "x: int\nx = 1\nuse(x)\nx = 2\nuse(x)",
    ),
    "annotated assignment": (
        "x: int = 1\nx: int = x + 2\nuse(x)\nx = 3",
        "x: int = 1\nx: int = x + 2\nuse(x)\nx = 3",
    ),
    "walrus": (
        "x = 1\nif p and (x := q):\n    use(x)\nx = 2",
        "x = 1\nif p and (x.1 := q):\n    use(x.1)\nx.2 = 2",
    ),
    "walrus that may not run": (
        "x = 1\nif p or (x := q):\n    use(x)",
        "x = 1\nif p or (x := q):\n    use(x)",
    ),
    "match": (
        "match p:\n    case [x, 1]:\n        use(x)\n    case x:\n        use(x)",
        "match p:\n    case [x, 1]:\n        use(x)\n    case x.1:\n        use(x.1)",
    ),
    "alternatives of a pattern": (
        "match p:\n    case (x, 1) | (2, x):\n        use(x)",
        "match p:\n    case (x, 1) | (2, x):\n        use(x)",
    ),
    "a pattern that fails binds nothing": (
        "x = 1\nmatch p:\n    case [x, 1]:\n        use(x)\n    case _:\n        use(x)",
        "x = 1\nmatch p:\n    case [x.1, 1]:\n        use(x.1)\n    case _:\n        use(x)",
    ),
    "a pattern whose guard fails has bound": (
        "x = 1\nmatch p:\n    case [x, 1] if q:\n        pass\n    case _:\n        use(x)",
        "x = 1\nmatch p:\n    case [x, 1] if q:\n        pass\n    case _:\n        use(x)",
    ),
    "a comprehension's own target": (
        "x = 1\ny = [x for x in range(x)]\nx = 2",
        "x = 1\ny = [x for x in range(x)]\nx.1 = 2",
    ),
    "a nested function sees every assignment": (
        "x = 1\ndef g(y):\n    return x + y\nx = 2\nuse(g)",
        "x = 1\ndef g(y):\n    return x + y\nx = 2\nuse(g)",
    ),
    "a lambda's own parameter": (
        "x = 1\nuse(lambda x: x)\nx = 2",
        "x = 1\nuse(lambda x: x)\nx.1 = 2",
    ),
    "unreachable code does not join": (
        "x = 1\nuse(x)\nif p:\n    return\n    x = 2\nuse(x)",
        "x = 1\nuse(x)\nif p:\n    return\n    x.1 = 2\nuse(x)",
    ),
}


@pytest.mark.parametrize("case", SPLITS)
def test_splits(case: str) -> None:
    text, expected = SPLITS[case]
    as_python = function_of(re.sub(r"([a-z])\.", r"\1__", expected))
    assert renamed(text) == shown(as_python)


UNASSIGNED_READS = {
    "never assigned": ("use(x)\nx = 1", [], ["x:1"]),
    "assigned in one branch": ("if p:\n    x = 1\nuse(x)", ["x:3"], []),
    "assigned in the other branch only": (
        "if p:\n    x = 1\nelse:\n    use(x)",
        [],
        ["x:4"],
    ),
    "assigned in both": ("if p:\n    x = 1\nelse:\n    x = 2\nuse(x)", [], []),
    "the other branch leaves": ("if p:\n    x = 1\nelse:\n    return\nuse(x)", [], []),
    "assigned in a loop": ("for i in range(p):\n    x = i\nuse(x, i)", ["x:3", "i:3"], []),
    "assigned in a loop that runs": ("for i in range(4):\n    x = i\nuse(x, i)", [], []),
    "in a loop that runs, but not always": (
        "for i in range(4):\n    if p:\n        continue\n    x = i\nuse(x)",
        ["x:5"],
        [],
    ),
    "range is not Python's": ("range = p\nfor i in range(4):\n    pass\nuse(i)", ["i:4"], []),
    "an empty range": ("for i in range(0):\n    x = i\nuse(x)", ["x:3"], []),
    "the round before": ("while p:\n    if q:\n        use(x)\n    x = 1", ["x:3"], []),
    "while True": ("while True:\n    x = 1\n    if p:\n        break\nuse(x)", [], []),
    "while 1 without break": ("while 1:\n    pass\nuse(x)\nx = 1", [], []),
    "while True, one break too early": (
        "while True:\n    if p:\n        break\n    x = 1\nuse(x)",
        ["x:5"],
        [],
    ),
    "while-else": ("while p:\n    break\nelse:\n    x = 1\nuse(x)", ["x:5"], []),
    "while True never gets to else": (
        "while True:\n    x = 1\n    break\nelse:\n    use(y)\n    y = 2\nuse(x)",
        [],
        [],
    ),
    "if False": ("if False:\n    x = 1\nuse(x)", [], ["x:3"]),
    "if not 0": ("if not 0:\n    x = 1\nuse(x)", [], []),
    "augmented before assigned": ("x += 1\nuse(x)", [], ["x:1"]),
    "and": ("if p and (x := q):\n    use(x)\nelse:\n    use(x)", ["x:4"], []),
    "or": ("if p or (x := q):\n    use(x)\nelse:\n    use(x)", ["x:2"], []),
    "not or": ("if not (p or (x := q)):\n    use(x)\nelse:\n    use(x)", ["x:4"], []),
    "chained comparison": (
        "if p < (x := q) < (y := p):\n    use(x, y)\nuse(x, y)",
        ["y:3"],
        [],
    ),
    "ternary": ("z = (x := 1) if p else 2\nuse(x)", ["x:2"], []),
    "ternary condition": ("z = x if (x := p) else x\nuse(x)", [], []),
    "walrus in a while condition": ("while (x := p) > 0:\n    use(x)\nuse(x)", [], []),
    "walrus in a comprehension": ("z = [(x := i) for i in p]\nuse(x)", ["x:2"], []),
    "comprehension's own": ("z = [x for x in p]\nx = 1", [], []),
    "comprehension reads": ("z = [x for i in p]\nx = 1", [], ["x:1"]),
    "del": ("x = 1\ndel x\nuse(x)", [], ["x:3"]),
    "del in one branch": ("x = 1\nif p:\n    del x\nuse(x)", ["x:4"], []),
    "del of nothing": ("del x\nx = 1", [], ["x:1"]),
    "after return": ("return\nuse(x)\nx = 1", [], []),
    "after continue": ("while p:\n    continue\n    use(x)\n    x = 1", [], []),
    "annotation is no assignment": ("x: int\nuse(x)", [], ["x:2"]),
    "target subscript first": ("x[p] = (x := q)", [], []),
    "augmented subscript first": ("y[x] += (x := q)\ny = 1", [], ["y:1", "x:1"]),
    "nested function reads later": ("def g():\n    return x\nx = 1\nuse(g)", [], []),
    "lambda default reads now": ("z = lambda a=x: a\nx = 1", [], ["x:1"]),
    "match without a default": (
        "match p:\n    case 1:\n        x = 1\n    case 2:\n        x = 2\nuse(x)",
        ["x:6"],
        [],
    ),
    "match with a default": (
        "match p:\n    case 1:\n        x = 1\n    case _:\n        x = 2\nuse(x)",
        [],
        [],
    ),
    "match guard": (
        "match p:\n    case _ if (x := q):\n        use(x)\n    case _:\n        use(x)",
        [],
        [],
    ),
    "assert may be skipped": ("assert (x := p)\nuse(x)", ["x:2"], []),
    "raise leaves": ("if p:\n    raise E\nelse:\n    x = 1\nuse(x)", [], []),
}


@pytest.mark.parametrize("case", UNASSIGNED_READS)
def test_doubtful_reads(case: str) -> None:
    text, maybe, never = UNASSIGNED_READS[case]
    assert unassigned_reads(text) == (maybe, never)


def test_maybe_undefined_names_the_assignments() -> None:
    ranges = live_ranges(function_of("if p:\n    x = 1\nelif q:\n    x = 2\nuse(x)"))
    ((read, assignments),) = ranges.maybe_undefined
    assert read.lineno == 6
    assert [getattr(a, "lineno", 0) for a in assignments] == [3, 5]


def test_locals_are_parameters_and_what_is_bound() -> None:
    text = """
        x = 1
        for i in range(outside):
            (a, *b), c.d, e[0] = i
        def inner(own):
            local_to_inner = own
        z = [k for k in p if (w := k)]
    """
    expected = {"p", "q", "x", "i", "a", "b", "inner", "z", "w"}
    assert live_ranges(function_of(text)).locals == expected


def test_parameters_of_every_kind_are_assigned() -> None:
    (tree,) = ast.parse("def f(a, /, b, *c, d, **e): return a, b, c, d, e").body
    assert isinstance(tree, ast.FunctionDef)
    ranges = live_ranges(tree)
    assert ranges.undefined == ranges.maybe_undefined == ()
    assert sorted(set(ranges.names.values())) == ["a", "b", "c", "d", "e"]


def written_out(text: str, rounds: int) -> tuple[ast.FunctionDef, ast.FunctionDef]:
    """A function, and the same with its first loop written out."""
    tree = function_of(text)
    copies = LoopUnroller()
    copies.pending = {n: TripCount(rounds) for n in ast.walk(tree) if isinstance(n, ast.For)}
    return tree, copies.unroll(tree)


def test_each_iteration_of_an_unrolled_loop_has_its_variables() -> None:
    _, tree = written_out("for x in p:\n    y = x\n    use(y)\nuse(x)", 3)
    ranges = live_ranges(tree)
    rounds = [n for n in ast.walk(tree) if isinstance(n, UnrolledIteration)]
    shown = [[ranges.names[id(n)] for n in ast.walk(r) if id(n) in ranges.names] for r in rounds]
    assert [sorted(set(names)) for names in shown] == [["x", "y"], ["x.1", "y.1"], ["x.2", "y.2"]]
    after = next(n for n in ast.walk(tree.body[1]) if isinstance(n, ast.Name) and n.id == "x")
    assert ranges.names[id(after)] == "x.2"
    assert ranges.maybe_undefined == ()


def test_a_loop_carried_value_is_the_same_variable() -> None:
    text = "x = 1\nfor i in p:\n    use(x)\n    if q:\n        continue\n    x = i\nuse(x)"
    _, tree = written_out(text, 2)
    names = live_ranges(tree).names
    uses = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "x"]
    assert {names[id(n)] for n in uses} == {"x"}


def test_unrolling_does_not_change_the_input_tree() -> None:
    before, after = written_out("if p:\n    for x in p:\n        use(x)\nelse:\n    use(q)", 2)
    assert ast.unparse(before) == ast.unparse(
        function_of("if p:\n    for x in p:\n        use(x)\nelse:\n    use(q)")
    )
    assert after.body[0] is not before.body[0]
    assert after.body[0].orelse is before.body[0].orelse


def test_copies_know_their_origin() -> None:
    tree = function_of("for x in p:\n    for y in q:\n        use(y)")
    copies = LoopUnroller()
    for _ in range(2):
        loops = [n for n in ast.walk(tree) if isinstance(n, ast.For)]
        copies.pending = {loops[0]: TripCount(2)}
        origin = copies.origin(id(loops[0].target))
        tree = copies.unroll(tree)
    assert origin == id(inner_target(copies))


def inner_target(copies: LoopUnroller) -> ast.expr:
    """The target of the inner loop as it was in the source."""
    outer = next(iter(copies.unrolled))
    inner = outer.body[0]
    assert isinstance(inner, ast.For)
    return inner.target


def test_deep_loops_take_no_exponential_time() -> None:
    depth = 14
    lines = [f"{'    ' * d}while p:" for d in range(depth)]
    lines += [f"{'    ' * depth}x{d} = x{(d + 1) % 9}" for d in range(9)]
    ranges = live_ranges(function_of("\n".join(lines)))
    assert len(ranges.maybe_undefined) == 8
    assert len(ranges.undefined) == 0


# ---- random programs, run before and after their variables are renamed -----------------------

NAMES = ("x", "y", "z")
names = st.sampled_from(NAMES)
atoms = st.one_of(names, st.sampled_from(("p", "q", "1", "2")))
expressions = st.one_of(
    atoms,
    st.builds("{} + {}".format, atoms, atoms),
    st.builds("({} if {} > 2 else {})".format, atoms, atoms, atoms),
    st.builds("({0} and ({1} := {2}))".format, atoms, names, atoms),
    st.builds("[{0} for k in range(2) if ({1} := {0} + k)][-1:] == []".format, atoms, names),
)
conditions = st.one_of(
    st.builds("{} % 2 == 0".format, atoms),
    st.builds("{} > 1 and {} % 3".format, atoms, atoms),
    st.builds("{} > 2 or ({} := {} % 2)".format, atoms, names, atoms),
    st.builds("not ({} < ({} := {}) < 3)".format, atoms, names, atoms),
    st.sampled_from(("True", "1", "False")),
)
simple = st.one_of(
    st.builds("{} = {}".format, names, expressions),
    st.builds("{} = {}".format, names, expressions),
    st.builds("{} += {}".format, names, expressions),
    st.builds("{}, {} = {}, {}".format, names, names, atoms, atoms),
    st.builds("{} = {} = {}".format, names, names, atoms),
    st.builds("note({})".format, expressions),
    st.builds("p = {}".format, atoms),
    st.builds("del {}".format, names),
    st.sampled_from(("return", "break", "continue", "pass")),
)


def indented(body: list[str]) -> str:
    return textwrap.indent("\n".join(body), "    ")


def if_statement(test: str, then: list[str], otherwise: list[str]) -> str:
    tail = f"\nelse:\n{indented(otherwise)}" if otherwise else ""
    return f"if {test}:\n{indented(then)}{tail}"


def loop(head: str, body: list[str], otherwise: list[str]) -> str:
    tail = f"\nelse:\n{indented(otherwise)}" if otherwise else ""
    return f"{head}:\n{indented(['tick()', *body])}{tail}"


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bodies = st.lists(inner, min_size=1, max_size=4)
    maybe = st.lists(inner, max_size=2)
    heads = st.one_of(
        st.builds("while {}".format, conditions),
        st.builds("for {} in range({} % 3)".format, names, atoms),
        st.builds("for {} in range({})".format, names, st.sampled_from(("0", "2", "1, 3"))),
    )
    return st.one_of(
        st.builds(if_statement, conditions, bodies, maybe), st.builds(loop, heads, bodies, maybe)
    )


statements = st.recursive(simple, compound, max_leaves=12)
bodies = st.lists(statements, min_size=2, max_size=8)
programs = bodies.map(lambda body: "\n".join([*body, "x = y = z = 0"]))  # all three are local


class OutOfTime(Exception):
    """Stands in for a loop that does not end."""


def run(tree: ast.Module) -> tuple[list[object], tuple[str, int] | None]:
    """What a program notes, and the name and line of the read that was not assigned."""
    recorded: list[object] = []
    left = iter(range(40))

    def tick() -> None:
        if next(left, None) is None:
            raise OutOfTime

    space: dict[str, Callable[..., None]] = {"note": recorded.append, "tick": tick}
    exec(compile(tree, "program", "exec"), space)
    try:
        space["f"](3, 4)
    except OutOfTime:
        recorded.append("out of time")
    except NameError as error:
        (name,) = re.findall(r"(?:variable|name) '(\w+)'", str(error))
        line = traceback.extract_tb(error.__traceback__)[-1].lineno
        return recorded, (name.partition("__")[0], line or 0)
    return recorded, None


def compiles(text: str) -> ast.Module | None:
    """A program, unless Python refuses it (a ``break`` outside of a loop)."""
    try:
        tree = ast.parse("def f(p, q):\n" + textwrap.indent(text, "    "))
        compile(tree, "program", "exec")
    except SyntaxError:
        return None
    return tree


@pytest.mark.slow
@settings(max_examples=100)
@given(programs.map(compiles).filter(lambda tree: tree is not None))
def test_a_renamed_program_does_the_same(tree: ast.Module) -> None:
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    ranges = live_ranges(function)
    before = run(tree)
    doubtful = [n for n, _ in ranges.maybe_undefined] + list(ranges.undefined)
    if before[1] is not None:
        assert before[1] in {(node.id, node.lineno) for node in doubtful}
    rename(function, ranges)
    assert run(tree) == before
