"""The C printer: pycparser reads the text back as the same tree, and gcc has no warnings."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycparser import c_ast, c_parser

from pycu2c.csyntax import nodes as c
from pycu2c.csyntax.printer import print_expr, print_file, print_stmt, print_type

PARSER = c_parser.CParser()
FLOAT, UNSIGNED, RECORD = c.NamedType("float"), c.NamedType("unsigned int"), c.NamedType("struct s")


# ---- pycparser's tree as ours ----------------------------------------------------------------


def read_expr(node: c_ast.Node) -> c.Expr:
    match node:
        case c_ast.ID():
            return c.Name(node.name)
        case c_ast.Constant(type="string"):
            return c.String(unescaped(node.value))
        case c_ast.Constant():
            return c.Number(node.value)
        case c_ast.UnaryOp():
            return c.UnaryExpr(node.op, read_expr(node.expr))
        case c_ast.BinaryOp():
            return c.BinaryExpr(node.op, read_expr(node.left), read_expr(node.right))
        case c_ast.TernaryOp():
            parts = (node.cond, node.iftrue, node.iffalse)
            return c.Conditional(*(read_expr(part) for part in parts))
        case c_ast.FuncCall():
            arguments = node.args.exprs if node.args else ()
            return c.CallExpr(node.name.name, tuple(read_expr(a) for a in arguments))
        case c_ast.ArrayRef():
            return c.Index(read_expr(node.name), read_expr(node.subscript))
        case c_ast.StructRef():
            return c.MemberExpr(read_expr(node.name), node.field.name, node.type == "->")
        case c_ast.Cast():
            return c.CastExpr(read_type(node.to_type), read_expr(node.expr))
    raise AssertionError(node)


def read_type(node: c_ast.Node) -> c.CType:
    match node:
        case c_ast.Typename() | c_ast.Decl():
            return read_type(node.type)
        case c_ast.TypeDecl():
            kind = node.type
            name = f"struct {kind.name}" if isinstance(kind, c_ast.Struct) else " ".join(kind.names)
            return c.NamedType(name, "const" in node.quals)
        case c_ast.PtrDecl():
            return c.PointerType(read_type(node.type), "const" in node.quals)
        case c_ast.ArrayDecl():
            inner = read_type(node.type)
            extents = (int(node.dim.value),)
            if isinstance(inner, c.ArrayType):
                return c.ArrayType(inner.element, extents + inner.extents)
            return c.ArrayType(inner, extents)
    raise AssertionError(node)


def unescaped(literal: str) -> str:
    simple = {"n": 10, "t": 9}
    out = bytearray()
    for octal, escape, plain in re.findall(r'\\([0-7]{3})|\\(.)|([^"])', literal):
        out.append(int(octal, 8) if octal else simple.get(escape, ord(escape or plain)))
    return out.decode("utf-8", "surrogatepass")


def read_body(node: c_ast.Node | None) -> tuple[c.Stmt, ...]:
    if node is None:
        return ()
    if not isinstance(node, c_ast.Compound):
        return (read_stmt(node),)
    return tuple(read_stmt(s) for s in node.block_items or ())


def read_stmt(node: c_ast.Node) -> c.Stmt:
    match node:
        case c_ast.Compound():
            return c.CompoundStmt(read_body(node))
        case c_ast.Decl():
            init = read_expr(node.init) if node.init else None
            return c.DeclStmt(read_type(node.type), node.name, init, tuple(node.storage))
        case c_ast.Assignment():
            return c.AssignStmt(read_expr(node.lvalue), read_expr(node.rvalue), node.op)
        case c_ast.UnaryOp(op="++" | "--"):
            return c.Increment(read_expr(node.expr), node.op)
        case c_ast.If():
            then, orelse = read_body(node.iftrue), read_body(node.iffalse)
            return c.IfStmt(read_expr(node.cond), then, orelse)
        case c_ast.While():
            return c.WhileStmt(read_expr(node.cond), read_body(node.stmt))
        case c_ast.For():
            init = read_stmt(node.init) if node.init else None
            condition = read_expr(node.cond) if node.cond else None
            step = read_stmt(node.next) if node.next else None
            return c.ForStmt(init, condition, step, read_body(node.stmt))
        case c_ast.DeclList():
            return read_stmt(node.decls[0])
        case c_ast.Break():
            return c.BreakStmt()
        case c_ast.Continue():
            return c.ContinueStmt()
        case c_ast.Goto():
            return c.Goto(node.name)
        case c_ast.Label():
            return c.LabelStatement(node.name)
        case c_ast.Return():
            return c.ReturnStmt(read_expr(node.expr) if node.expr else None)
        case c_ast.Pragma():
            return c.Pragma(node.string)
    return c.ExprStmt(read_expr(node))


def parsed(text: str) -> tuple[c.Stmt, ...]:
    tree = PARSER.parse(f"void f(void) {{\n{text}\n}}\n")
    return read_body(tree.ext[0].body)


# ---- random trees ----------------------------------------------------------------------------

names = st.sampled_from("abxy").map(c.Name)
numbers = st.sampled_from(["0", "1", "2.0f", "-1", "-0.5", "7U"]).map(c.Number)
types = st.recursive(
    st.sampled_from([FLOAT, UNSIGNED, RECORD, c.NamedType("int", const=True)]),
    lambda inner: (
        st.builds(c.PointerType, inner, st.booleans())
        | st.builds(
            c.ArrayType,
            inner.filter(lambda t: not isinstance(t, c.ArrayType)),
            st.lists(st.integers(1, 9), min_size=1, max_size=2).map(tuple),
        )
    ),
    max_leaves=4,
)
BINARY = [
    "||",
    "&&",
    "|",
    "^",
    "&",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "<<",
    ">>",
    "+",
    "-",
    "*",
    "/",
    "%",
]


def larger(inner: st.SearchStrategy[c.Expr]) -> st.SearchStrategy[c.Expr]:
    return (
        st.builds(c.BinaryExpr, st.sampled_from(BINARY), inner, inner)
        | st.builds(c.UnaryExpr, st.sampled_from("-+~!*&"), inner)
        | st.builds(c.Conditional, inner, inner, inner)
        | st.builds(c.Index, inner, inner)
        | st.builds(c.MemberExpr, inner, st.sampled_from("pq"), st.booleans())
        | st.builds(c.CastExpr, types, inner)
        | st.builds(c.CallExpr, st.just("g"), st.lists(inner, max_size=3).map(tuple))
    )


texts = st.text(st.sampled_from("\"\\?/'*é\n\r\0\x1b\u2028\U0001f600 a7%") | st.characters())
exprs = st.recursive(names | numbers | texts.map(c.String), larger, max_leaves=20)
declares = st.builds(
    c.DeclStmt, types, st.just("v"), st.none() | exprs, st.sampled_from([(), ("static",)])
)
places = (
    names
    | st.builds(c.Index, exprs, exprs)
    | st.builds(c.MemberExpr, exprs, st.just("p"))
    | st.builds(c.UnaryExpr, st.just("*"), exprs)
)
assigns = st.builds(c.AssignStmt, places, exprs, st.sampled_from(["=", "+=", "-=", "<<="]))
steps = st.builds(c.Increment, places, st.sampled_from(["++", "--"]))
jumps = st.sampled_from([c.BreakStmt(), c.ContinueStmt(), c.Goto("end")])
simple = (
    declares
    | assigns
    | steps
    | jumps
    | st.builds(c.ExprStmt, exprs)
    | st.builds(c.ReturnStmt, exprs)
)


def compound(inner: st.SearchStrategy[c.Stmt]) -> st.SearchStrategy[c.Stmt]:
    body = st.lists(inner, max_size=3).map(tuple)
    init = st.none() | st.builds(c.DeclStmt, types, st.just("v"), exprs) | assigns
    return (
        st.builds(c.IfStmt, exprs, body, body)
        | st.builds(c.WhileStmt, exprs, body)
        | st.builds(c.ForStmt, init, st.none() | exprs, st.none() | assigns | steps, body)
        | st.builds(c.CompoundStmt, body)
    )


stmts = st.recursive(simple, compound, max_leaves=8)


def with_signs_apart(e: c.Expr) -> c.Expr:
    """``-1`` is a minus and a number to a parser."""
    if isinstance(e, c.Number) and e.text[0] == "-":
        return c.UnaryExpr("-", c.Number(e.text[1:]))
    return e


def normal(node: object) -> object:
    """The tree as a parser sees it: signs apart."""
    if isinstance(node, tuple):
        return tuple(normal(part) for part in node)
    if not hasattr(node, "__dataclass_fields__"):
        return node
    parts = {name: normal(getattr(node, name)) for name in node.__dataclass_fields__}
    return with_signs_apart(replace(node, **parts))


# ---- round trips -----------------------------------------------------------------------------


@given(exprs)
def test_an_expression_is_read_back_as_it_was(e: c.Expr) -> None:
    assert parsed(f"{print_expr(e)};") == (c.ExprStmt(normal(e)),)


@settings(max_examples=60)
@given(stmts)
def test_a_statement_is_read_back_as_it_was(s: c.Stmt) -> None:
    assert parsed(print_stmt(s, 1)) == (normal(s),)


@settings(max_examples=30)
@given(types)
def test_a_type_is_read_back_as_it_was(t: c.CType) -> None:
    assert parsed(f"{print_type(t, 'v')};") == (c.DeclStmt(t, "v"),)


def preprocessed(text: str) -> list[str]:
    command = ["gcc", "-E", "-P", "-Wall", "-Wextra", "-Werror", "-std=c11", "-x", "c", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().split()


@settings(max_examples=10)
@given(
    st.lists(texts | st.sampled_from(["a\\", "??/", "*/ x", "/* y", "\\\n", "\\ "]), max_size=30)
)
def test_no_comment_touches_the_code_around_it(comments: list[str]) -> None:
    body = [s for i, text in enumerate(comments) for s in (c.Comment(text), c.Goto(f"l{i}"))]
    plain = [s for s in body if not isinstance(s, c.Comment)]
    files = [
        c.File((c.FunctionDecl("f", c.NamedType("void"), (), tuple(b)),)) for b in (body, plain)
    ]
    with_comments, without = (preprocessed(print_file(f)) for f in files)
    assert with_comments == without


@settings(max_examples=10)
@given(st.lists(texts, max_size=30))
def test_gcc_reads_a_string_as_one_literal(values: list[str]) -> None:
    body = tuple(c.ExprStmt(c.CallExpr("use", (c.String(v),))) for v in values)
    text = print_file(c.File((c.FunctionDecl("f", c.NamedType("void"), (), body),)))
    compile_quietly(f"void use(const char *);\nvoid f(void);\n{text}")


# ---- gcc's taste -----------------------------------------------------------------------------


MEANING = [
    "-Wno-bool-operation",
    "-Wno-bool-compare",
    "-Wno-int-in-bool-context",
    "-Wno-sign-compare",
]


def compile_quietly(text: str) -> None:
    """Warnings about what an expression computes are left out; about how it is written, not."""
    flags = ["-Wall", "-Wextra", *MEANING, "-Werror", "-std=c11", "-fsyntax-only"]
    command = ["gcc", *flags, "-x", "c", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def int_larger(inner: st.SearchStrategy[c.Expr]) -> st.SearchStrategy[c.Expr]:
    """Ints from ints, with comparisons where C has them; ``!`` and ``&&`` of truth values only."""
    compared = st.builds(c.BinaryExpr, st.sampled_from(BINARY[5:11]), inner, inner)
    truth = compared | st.builds(
        c.BinaryExpr, st.sampled_from(["&&", "||"]), compared, compared | names
    )
    truth = truth | st.builds(c.BinaryExpr, st.sampled_from(["&&", "||"]), truth, truth)
    return (
        st.builds(c.BinaryExpr, st.sampled_from(BINARY[2:5] + BINARY[11:]), inner, inner)
        | st.builds(c.BinaryExpr, st.sampled_from(BINARY[2:5]), truth, truth)
        | st.builds(c.UnaryExpr, st.sampled_from("-+~"), inner)
        | st.builds(c.Conditional, truth, inner, inner)
        | truth
        | truth.map(lambda e: c.UnaryExpr("!", e))
    )


int_exprs = st.recursive(names, int_larger, max_leaves=16)


def with_distinct_names(e: object, used: list[str]) -> object:
    """Every leaf another variable, so that no warning is about ``x == x``."""
    if isinstance(e, c.Name):
        used.append(f"v{len(used)}")
        return c.Name(used[-1])
    if not hasattr(e, "__dataclass_fields__"):
        return e
    fields = e.__dataclass_fields__
    return replace(e, **{n: with_distinct_names(getattr(e, n), used) for n in fields})


@settings(max_examples=10)
@given(st.lists(int_exprs, min_size=10, max_size=40))
def test_gcc_has_nothing_to_say_about_parentheses(trees: list[c.Expr]) -> None:
    functions: list[c.Item] = []
    for i, tree in enumerate(trees):
        used: list[str] = []
        body = (c.ReturnStmt(with_distinct_names(tree, used)),)
        parameters = tuple(c.ParameterDecl(c.NamedType("int"), name) for name in used)
        functions.append(c.FunctionDecl(f"f{i}", c.NamedType("int"), parameters, body, ("extern",)))
    compile_quietly(print_file(c.File(tuple(functions))))


# ---- layout ----------------------------------------------------------------------------------

A, B, C = c.Name("a"), c.Name("b"), c.Name("c")


def op(symbol: str, left: c.Expr, right: c.Expr) -> c.BinaryExpr:
    return c.BinaryExpr(symbol, left, right)


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (op("||", op("&&", A, B), C), "(a && b) || c"),
        (op("&", A, op("==", B, C)), "a & (b == c)"),
        (op("<<", A, op("+", B, C)), "a << (b + c)"),
        (op("==", op("<", A, B), C), "(a < b) == c"),
        (op("+", op("*", A, B), C), "a * b + c"),
        (op("*", c.Number("5"), op("%", A, c.Number("2"))), "5 * (a % 2)"),
        (op("*", op("%", A, B), C), "(a % b) * c"),
        (op("/", op("*", A, B), C), "a * b / c"),
        (op("/", A, op("*", B, C)), "a / (b * c)"),
        (op("-", A, op("-", B, C)), "a - (b - c)"),
        (op("-", op("-", A, B), C), "a - b - c"),
        (op("-", A, c.UnaryExpr("-", B)), "a - -b"),
        (op("-", A, c.Number("-1")), "a - -1"),
        (c.UnaryExpr("-", c.UnaryExpr("-", A)), "-(-a)"),
        (c.UnaryExpr("-", c.Number("-1")), "-(-1)"),
        (c.UnaryExpr("&", c.UnaryExpr("&", A)), "&(&a)"),
        (c.UnaryExpr("!", c.UnaryExpr("!", A)), "!!a"),
        (c.Index(c.CastExpr(c.PointerType(FLOAT), A), op("+", B, C)), "((float *)a)[b + c]"),
        (c.Conditional(op("<", A, B), A, c.Conditional(C, A, B)), "a < b ? a : c ? a : b"),
        (c.String('say "hi"\n??='), r'"say \"hi\"\n?\?="'),
    ],
)
def test_expressions_have_the_parentheses_that_precedence_requires(tree: c.Expr, text: str) -> None:
    assert print_expr(tree) == text


def test_cases_may_be_inside_of_loops() -> None:
    again = c.WhileStmt(C, (c.ReturnStmt(A), c.Case(1), c.Increment(A)))
    assert print_stmt(c.Switch(C, (c.Case(0), again))) == (
        "switch (c) {\n"
        "case 0:;\n"
        "    while (c) {\n"
        "        return a;\n"
        "    case 1:;\n"
        "        ++a;\n"
        "    }\n"
        "}"
    )


def test_statements_are_laid_out_as_people_write_them() -> None:
    step = c.AssignStmt(A, B, "+=")
    orelse = (c.IfStmt(C, (c.BreakStmt(), step), (step,)),)
    init = c.DeclStmt(c.NamedType("int"), "i", c.Number("0"))
    loop = c.ForStmt(
        init, op("<", c.Name("i"), A), c.Increment(c.Name("i")), (c.IfStmt(A, (step,), orelse),)
    )
    body = (
        c.IfStmt(op(">=", A, B), (c.ReturnStmt(),)),
        c.Comment("one\ntwo\\"),
        c.Pragma("unroll"),
        loop,
        c.LabelStatement("end"),
        c.ForStmt(None, None, None, (c.ContinueStmt(),)),
    )
    parameters = (
        c.ParameterDecl(c.NamedType("int"), "a"),
        c.ParameterDecl(c.NamedType("int"), "b"),
    )
    text = print_file(c.File((c.FunctionDecl("f", c.NamedType("void"), parameters, body),)))
    assert text == (
        "void f(int a, int b) {\n"
        "    if (a >= b) return;\n"
        "    // one\n"
        "    // two\\ .\n"
        "    #pragma unroll\n"
        "    for (int i = 0; i < a; ++i) {\n"
        "        if (a) {\n"
        "            a += b;\n"
        "        } else if (c) {\n"
        "            break;\n"
        "            a += b;\n"
        "        } else {\n"
        "            a += b;\n"
        "        }\n"
        "    }\n"
        "end:;\n"
        "    for (;;) {\n"
        "        continue;\n"
        "    }\n"
        "}\n"
    )


def test_a_file_has_includes_structs_and_our_own_text() -> None:
    fields = (
        c.ParameterDecl(c.ArrayType(FLOAT, (2, 3)), "m"),
        c.ParameterDecl(c.PointerType(FLOAT), "p"),
    )
    items = (c.Include("stdint.h"), c.Blank(), c.Struct("s", fields), c.Verbatim("int g;\n\n"))
    assert print_file(c.File(items)) == (
        "#include <stdint.h>\n\nstruct s {\n    float m[2][3];\n    float *p;\n};\nint g;\n"
    )


def test_a_long_parameter_list_is_packed_under_its_first_parameter() -> None:
    pointer = c.PointerType(c.NamedType("float", const=True), restrict=True)
    parameters = tuple(c.ParameterDecl(pointer, f"array_{i}") for i in range(5))
    lines = print_file(
        c.File((c.FunctionDecl("g", c.NamedType("void"), parameters, ()),))
    ).splitlines()
    assert lines == [
        "void g(const float *__restrict__ array_0, const float *__restrict__ array_1,",
        "       const float *__restrict__ array_2, const float *__restrict__ array_3,",
        "       const float *__restrict__ array_4) {",
        "}",
    ]
