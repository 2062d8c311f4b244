"""Classify the variables of a kernel: uniform, rematerialized or per thread.

The classification is conservative: a variable is per thread unless its uniformity is certain. See
``analysis.uniformity`` for the analysis on the IR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from pycu2c.base.records import dataclass, field
from pycu2c.compat.cuda_text.parse.declarations import (
    ASSIGNMENT_OPERATORS,
    BUILT_IN,
    INCREMENTS,
    Declarator,
)
from pycu2c.compat.cuda_text.parse.tokens import Token, closing


class VariableUniformity(Enum):
    """How the values of a variable differ between threads."""

    UNIFORM = "the same value in all threads at each barrier"
    REMATERIALIZED = "per thread, recomputed from values that do not change"
    PER_THREAD = "per thread, stored in a context array"


@dataclass(eq=False, slots=True)
class ThreadVariable:
    """A local variable, or a parameter, whose ``declarator`` is None.

    ``start`` and ``end`` are the offsets of its scope. ``assigned`` are the values that all threads
    assign in lockstep, None for any other modification.
    """

    name: str
    declarator: Declarator | None
    start: int
    end: int
    is_pointer: bool = False
    is_scalar: bool = True
    is_addressed: bool = False  # a pointer may hold its address
    assigned: list[tuple[Token, ...] | None] = field(default_factory=list)
    uniformity: VariableUniformity = VariableUniformity.UNIFORM

    @property
    def initial_value(self) -> tuple[Token, ...]:
        """Return the tokens after ``=``; empty without them."""
        value = self.declarator.initializer if self.declarator else ()
        return value[1:] if value and value[0].text == "=" else ()


VariableOf = Callable[[Token], ThreadVariable | None]
_UNIFORM_NAMES = BUILT_IN | {
    "blockIdx", "blockDim", "gridDim", "warpSize", "true", "false", "sizeof", "const", "min", "max",
    "static_cast", "size_t", "int32_t", "int64_t", "uint32_t", "uint64_t", "ptrdiff_t",
}  # fmt: skip
_NOT_PURE = ASSIGNMENT_OPERATORS | INCREMENTS | frozenset(("[", "{", "->", "::", ";", "#"))


def record_use(variable: ThreadVariable, tokens: Sequence[Token], index: int) -> bool:
    """Record that a pointer may hold the address; return whether the use may modify the variable.

    ``index`` is that of the variable's name.
    """
    first = index - 1
    while first >= 0 and tokens[first].text == "(":
        first -= 1
    if first >= 0 and tokens[first].text == "&":
        before = tokens[first - 1] if first else tokens[first]
        is_operator = before.kind in ("identifier", "number") or before.text in ")]"
        if not is_operator or before.text in (")", "return"):
            variable.is_addressed = True
            return True
    after = index + 1
    while not variable.is_pointer and after < len(tokens) and tokens[after].text in ("[", "."):
        after = closing(tokens, after) + 1 if tokens[after].text == "[" else after + 2
    if after > index + 1 and tokens[after].text == "(":
        return True  # a member function
    is_element = variable.is_pointer and tokens[after].text == "["
    if not is_element and tokens[index - 1].text in INCREMENTS:
        return True
    return tokens[after].text in ASSIGNMENT_OPERATORS | INCREMENTS


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


class UniformityAnalysis:
    """Classifies variables.

    ``variable_of`` returns the variable of an identifier, ``expand`` the expansion of a token;
    ``constants`` are names with one value in a launch.
    """

    def __init__(
        self,
        variable_of: VariableOf,
        expand: Callable[[Token], Sequence[Token]],
        constants: frozenset[str],
    ) -> None:
        self._variable_of, self._expand = variable_of, expand
        self._names = _UNIFORM_NAMES | constants

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
        if declarator and (not variable.is_scalar or declarator.extents):
            return False
        if declarator and not self.is_uniform(variable.initial_value):
            return False
        values = variable.assigned
        return all(v is not None and (not v or self.is_uniform(v)) for v in values)

    def is_uniform(self, tokens: Sequence[Token]) -> bool:
        """Return whether an expression has the same value in all threads and no side effects."""
        return self._is_pure(tokens, lambda v: v.uniformity is VariableUniformity.UNIFORM)

    def _is_rematerializable(self, variable: ThreadVariable) -> bool:
        declarator = variable.declarator
        if not declarator or declarator.extents or variable.assigned or not variable.is_scalar:
            return False
        return self._is_pure(
            variable.initial_value,
            lambda v: v.uniformity is not VariableUniformity.PER_THREAD and not v.assigned,
            self._names | {"threadIdx"},
        )

    def _is_pure(
        self,
        tokens: Sequence[Token],
        is_allowed: Callable[[ThreadVariable], bool],
        names: frozenset[str] | None = None,
    ) -> bool:
        """Return whether an expression reads only such variables and these names.

        It must not read memory, call functions other than min and max, or have side effects.
        """
        expression = [expanded for token in tokens for expanded in self._expand(token)]
        none = Token("", "", 0, 0)
        padded = (none, none, *expression, none)
        for second, before, token, after in zip(padded, padded[1:], padded[2:], padded[3:]):
            if token.kind in ("directive", "literal") or token.text in _NOT_PURE:
                return False
            if token.text in ("*", "&", "("):
                is_unary = before.kind != "number" and before.text not in (")", "]")
                if token.text != "(" and is_unary and before.kind != "identifier":
                    return False
                if before.text == ")" and not self._ends_value(second, token):
                    return False
            if token.kind != "identifier" or before.text == ".":
                if before.text == "." and after.text == "(":
                    return False  # a member function
                continue
            variable = self._variable_of(token)
            if variable is None:
                if token.text not in (names or self._names):
                    return False
            elif not is_allowed(variable) or after.text == "(":
                return False
            elif not variable.is_scalar and after.text != ".":
                return False  # an object: its operators may be functions
        return bool(expression)

    def _ends_value(self, last: Token, token: Token) -> bool:
        """Return whether ``last`` ends an operand in brackets before ``*``, ``&`` or ``(``.

        Otherwise the brackets are a cast, such as ``(T) *p``, or a function, such as ``(f)(x)``.
        """
        if token.text == "(":
            return last.text in BUILT_IN
        is_value = last.text in ("x", "y", "z") or self._variable_of(last) is not None
        return (
            last.kind == "number"
            or last.text == ")"
            or is_value
            or last.text in self._names - (_UNIFORM_NAMES)
        )
