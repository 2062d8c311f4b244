"""Classify the variables that are live at barriers: uniform, rematerialized or per thread.

The classification is conservative: a variable is per thread unless its uniformity is certain. See
``analysis.uniformity`` for the analysis on the IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import pairwise

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parse.declarations import BUILT_IN, Declarator
from pycu2c.compat.cuda_text.parse.tokens import Token, closing


class VariableUniformity(Enum):
    """How the values of a variable differ between threads."""

    UNIFORM = "the same value in all threads at each barrier"
    REMATERIALIZED = "per thread, recomputed from values that do not change"
    PER_THREAD = "per thread, stored in a context array"


@dataclass(eq=False, slots=True)
class ThreadVariable:
    """A local variable, or a parameter, whose ``declarator`` is None.

    ``start`` and ``end`` are the offsets of its scope.
    """

    name: str
    number: int
    declarator: Declarator | None
    start: int
    end: int
    uniformity: VariableUniformity = VariableUniformity.UNIFORM
    is_pointer: bool = False
    is_pointed_at: bool = False  # or may be
    is_object: bool = False  # has a class type, which may have member functions

    @property
    def is_parameter(self) -> bool:
        return self.declarator is None


@dataclass(frozen=True, slots=True)
class Modification:
    """An assignment at an offset.

    ``value`` is the assigned expression if all threads execute it in lockstep, otherwise None.
    """

    offset: int
    value: tuple[Token, ...] | None


ASSIGNMENT_OPERATORS = frozenset(
    ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
)
INCREMENTS = frozenset(("++", "--"))
UNIFORM_NAMES = BUILT_IN | {
    "blockIdx", "blockDim", "gridDim", "warpSize", "true", "false", "sizeof",
    "static_cast", "const", "size_t", "int32_t", "int64_t", "uint32_t", "uint64_t", "ptrdiff_t",
}  # fmt: skip


def may_modify_at(tokens: Sequence[Token], index: int, *, is_pointer: bool) -> bool:
    """Return whether an expression may modify the variable that an identifier names."""
    before = tokens[index - 1].text if index else ""
    after = index + 1
    modifies_element = is_pointer and tokens[after : after + 1] and tokens[after].text == "["
    if not modifies_element and (before in ("&", *INCREMENTS) or _takes_address(tokens, index)):
        return True
    while not is_pointer and after < len(tokens):
        if tokens[after].text == "[":
            after = closing(tokens, after) + 1
        elif tokens[after].text == ".":
            after += 2
        else:
            break
    if _is_cast(tokens, index) or (after > index + 1 and tokens[after].text == "("):
        return True  # a cast to a reference; a member function
    return after < len(tokens) and tokens[after].text in ASSIGNMENT_OPERATORS | INCREMENTS


def _is_cast(tokens: Sequence[Token], index: int) -> bool:
    """Return whether ``(T &)`` or ``…cast<T &>(`` precedes an identifier."""
    before = [t.text for t in tokens[max(index - 3, 0) : index]]
    return before[-2:] in (["&", ")"], ["&&", ")"]) or before in (["&", ">", "("], ["&&", ">", "("])


def _takes_address(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a unary ``&`` precedes an identifier."""
    first = index - 1
    while first >= 0 and tokens[first].text == "(":
        first -= 1
    if first < 0 or tokens[first].text != "&":
        return False
    before = [t.text for t in tokens[max(first - 2, 0) : first]]
    is_cast = before[-1:] == [")"] and (first == index - 1 or before == ["*", ")"])
    return (
        is_cast or not before or (tokens[first - 1].kind == "punctuator" and before[-1] not in ")]")
    )


def assignment(tokens: Sequence[Token]) -> tuple[Token, tuple[Token, ...]] | None:
    """Return the name and value of ``name = value``, ``name += value``, ``name++``; else None."""
    tokens = [t for t in tokens if t.text != ";"]
    texts = [t.text for t in tokens]
    if len(tokens) == 2 and INCREMENTS & {*texts}:
        name = tokens[1] if texts[0] in INCREMENTS else tokens[0]
        return (name, ()) if name.kind == "identifier" else None
    if len(tokens) > 2 and tokens[0].kind == "identifier" and texts[1] in ASSIGNMENT_OPERATORS:
        return tokens[0], tuple(tokens[2:])
    return None


def may_be_pointed_at(tokens: Sequence[Token], index: int, axes: int) -> bool:
    """Return whether a pointer may hold the address: ``&name``, or an array that decays."""
    if _takes_address(tokens, index):
        return True
    after = index + 1
    while axes and after < len(tokens) and tokens[after].text == "[":
        after, axes = closing(tokens, after) + 1, axes - 1
    return axes > 0


class UniformityAnalysis:
    """Classifies variables.

    ``variable_of`` returns the variable of an identifier, ``expand`` the expansion of a token;
    ``constants`` are names with one value in a launch.
    """

    def __init__(
        self,
        variable_of: Callable[[Token], ThreadVariable | None],
        expand: Callable[[Token], Sequence[Token]],
        constants: frozenset[str],
        changes: Mapping[ThreadVariable, Sequence[Modification]],
    ) -> None:
        self._variable_of, self._expand, self._constants = variable_of, expand, constants
        self._changes = changes

    def classify(self, variables: Sequence[ThreadVariable]) -> None:
        """Classify the variables: assume uniformity and demote until a fixed point."""
        uniform, rematerialized, per_thread = VariableUniformity
        for uniformity, is_correct, weaker in (
            (uniform, self._is_uniform, rematerialized),
            (rematerialized, self._is_rematerializable, per_thread),
        ):
            while wrong := [
                v for v in variables if v.uniformity is uniformity and not is_correct(v)
            ]:
                for variable in wrong:
                    variable.uniformity = weaker

    def _is_uniform(self, variable: ThreadVariable) -> bool:
        declarator = variable.declarator
        if declarator is not None:
            if variable.is_object or declarator.extents or declarator.is_reference:
                return False
            if not self.is_uniform(_initial_value(declarator)):
                return False
        return all(
            c.value is not None and (not c.value or self.is_uniform(c.value))
            for c in self._changes[variable]
        )

    def is_uniform(self, tokens: Sequence[Token]) -> bool:
        """Return whether an expression has the same value in all threads and no side effects."""
        return self._depends_only_on(tokens, lambda v: v.uniformity is VariableUniformity.UNIFORM)

    def _is_rematerializable(self, variable: ThreadVariable) -> bool:
        declarator = variable.declarator
        if (
            declarator is None
            or self._changes[variable]
            or declarator.is_reference
            or declarator.extents
        ):
            return False
        if variable.is_object:
            return False
        scope = range(variable.start, variable.end)

        def is_unchanged(other: ThreadVariable) -> bool:
            changes = any(change.offset in scope for change in self._changes[other])
            return other.uniformity is not VariableUniformity.PER_THREAD and not changes

        return self._depends_only_on(
            _initial_value(declarator), is_unchanged, frozenset(("threadIdx",))
        )

    def _depends_only_on(
        self,
        tokens: Sequence[Token],
        is_allowed: Callable[[ThreadVariable], bool],
        names: frozenset[str] = frozenset(),
    ) -> bool:
        """Return whether an expression without side effects reads only these variables and names.

        Names of uniform values are allowed, too.
        """
        expression = [expanded for token in tokens for expanded in self._expand(token)]
        if not expression or not _is_pure(expression) or self._contains_cast(expression):
            return False
        neighbours = (None, *expression), expression, (*expression[1:], None)
        if any(map(self._calls_class_member, *neighbours)):
            return False
        for token in _non_member_names(expression):
            variable = self._variable_of(token)
            if variable is not None and not is_allowed(variable):
                return False
            if variable is None and token.text not in UNIFORM_NAMES | self._constants | names:
                return False
        return True

    def _calls_class_member(self, before: Token | None, token: Token, after: Token | None) -> bool:
        """Return whether a token calls a member function or may be an overloaded operator."""
        is_member = before is not None and before.text == "."
        variable = None if is_member else self._variable_of(token)
        if token.kind == "identifier" and after and after.text == "(":
            is_called = token.text in UNIFORM_NAMES or token.text in ("min", "max")
            return is_member or variable is not None or not is_called
        return variable is not None and variable.is_object and (not after or after.text != ".")

    def _contains_cast(self, tokens: Sequence[Token]) -> bool:
        """Return whether the tokens contain ``(T) * p``, which may read memory, or ``(f)(x)``."""
        for index, token in enumerate(tokens):
            if token.text != ")" or tokens[index + 1 : index + 2] == []:
                continue
            if tokens[index + 1].text not in ("*", "&", "("):
                continue
            start = index - 1
            while (start >= 0 and tokens[start].kind == "identifier") or tokens[start].text == "*":
                start -= 1
            inside = [t for t in tokens[start + 1 : index] if t.kind == "identifier"]
            is_type = not any(map(self._variable_of, inside))
            if tokens[start].text == "(" and is_type == (tokens[index + 1].text != "("):
                return True
        return False


def _initial_value(declarator: Declarator) -> tuple[Token, ...]:
    if declarator.initializer[:1] and declarator.initializer[0].text == "=":
        return declarator.initializer[1:]
    return ()


def _is_pure(tokens: Sequence[Token]) -> bool:
    """Return whether an expression reads no memory and has no side effects."""
    for before, token in pairwise((None, *tokens)):
        assert token is not None
        if token.kind in ("directive", "literal"):
            return False
        if (
            token.text in ("[", "{", "->", "::", ";", "#")
            or token.text in ASSIGNMENT_OPERATORS | INCREMENTS
        ):
            return False
        is_unary = before is None or (before.kind == "punctuator" and before.text not in (")", "]"))
        if token.text in ("*", "&") and is_unary:
            return False
    return True


def _non_member_names(tokens: Sequence[Token]) -> Iterator[Token]:
    for before, token in pairwise((None, *tokens)):
        assert token is not None
        if token.kind == "identifier" and (before is None or before.text not in (".", "::")):
            yield token
