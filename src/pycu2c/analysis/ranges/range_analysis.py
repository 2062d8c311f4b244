"""Which whole numbers each expression of a function can give: intervals, sharpened by what
conditions say of variables and dimensions.

Sound for every execution of a node, so a proof from here may replace a check at run time.
It reads the built IR; ``narrow`` and ``legalize`` ask it. A device function is looked at for
all that its calls give it, and each call for what the function makes of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from pycu2c.analysis import induction_variables
from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.analysis.ranges.domain import Knowledge, Term, Value
from pycu2c.analysis.ranges.evaluate import (
    Argument,
    Elements,
    Evaluator,
    Lengths,
    Results,
    any_result,
    variable_term,
)
from pycu2c.analysis.ranges.intervals import ANYTHING, Interval, everything, is_whole
from pycu2c.analysis.ranges.solver import Walk
from pycu2c.base.dtypes import INT32
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import Array, Scalar
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Call,
    Const,
    ElementOf,
    Expr,
    For,
    Function,
    Load,
    Module,
    Parameter,
    Store,
    Var,
    View,
    While,
)
from pycu2c.ir.walk import all_expressions, statements

__all__ = ["Facts", "Interval", "Ranges", "analyse", "analyse_module", "given_anything"]

_MORE_WALKS = 2  # over a function with a sum that is not yet known to stay small
_COUNTS = everything(Scalar(INT32))
_MOST_SUMMARIES = 12  # of one function; beyond, its arguments are not told apart
# places of a thread that lie below another: threadIdx.x < blockDim.x
_BELOW = (("threadIdx", "blockDim"), ("blockIdx", "gridDim"), ("grid", "gridsize"))


@dataclass(frozen=True, slots=True)
class Ranges:
    """What ``analyse`` found. Holds the function, so that nodes keep their identity."""

    function: Function
    result: Interval  # that it gives, if it gives a whole number
    _nodes: Mapping[int, Interval]
    _variables: Mapping[str, Interval]
    _inside: Mapping[tuple[int, int], bool] = field(default_factory=dict)
    _lengths: Lengths = field(default_factory=dict)
    _turns: Mapping[int, Interval] = field(default_factory=dict)

    def of(self, e: Expr) -> Interval:
        """All that this node can give; of its whole type if nothing ever comes there."""
        return self._nodes.get(id(e), everything(e.type))

    def reaches(self, e: Expr) -> bool:
        """Whether anything ever comes to a node that gives a whole number."""
        return id(e) in self._nodes

    def variable(self, name: str) -> Interval:
        """All that a variable of whole numbers is ever assigned."""
        return self._variables.get(name, ANYTHING)

    def within(self, access: Load | ElementOf | Store, axis: int) -> bool:
        """Whether an index is proved to be at least 0 and less than the length of its axis."""
        return self._inside.get((id(access), axis), False)

    def turns(self, e: Expr) -> Interval:
        """Of ``a % b``: where ``a // b`` lies, if that is near 0."""
        return self._turns.get(id(e), ANYTHING)

    def length(self, array: Expr, axis: int) -> Interval:
        """All lengths that an axis of an array, or of a view, may have."""
        assert isinstance(array.type, Array)
        if isinstance(array, View):
            return self.of(array.lengths[axis])
        if array.type.shape is not None:
            return Interval(array.type.shape[axis], array.type.shape[axis])
        assert isinstance(array, Var)
        return self._lengths.get((array.name, axis), ANYTHING)

    @staticmethod
    def everything(scalar: object) -> Interval:
        """All values of a type."""
        return everything(scalar)


@dataclass(frozen=True, slots=True)
class Given:
    """What is known of a function's parameters: where its numbers lie, and the lengths of the
    axes of its arrays."""

    numbers: Mapping[str, Interval]
    lengths: Lengths


def analyse(
    function: Function,
    facts: Facts,
    given: Given | None = None,
    results: Results = any_result,
    elements: Elements = MappingProxyType({}),
) -> Ranges:
    """``if i > 0: x[i - 1]``: the node ``i - 1`` gives 0 or more. ``given``: if it is not what
    a launch gives to the kernel. ``elements``: of the constant arrays of the module."""
    given = given or _given_to_kernel(function, facts)
    found = _walked(function, Evaluator(facts, given.lengths, results, elements), given)
    for _ in range(_MORE_WALKS):
        wide = [name for name in _moved(function) if not _COUNTS.holds(found.variable(name))]
        if not wide:
            break
        before = found
        again = Evaluator(facts, given.lengths, results, elements)
        found = _walked(function, again, given, before)
        if all(found.variable(name) == before.variable(name) for name in wide):
            break
    return found


def _walked(
    function: Function, evaluator: Evaluator, given: Given, before: Ranges | None = None
) -> Ranges:
    """One walk over a function; it may know what another has found."""
    known = _at_the_start(function, evaluator.facts)
    for p in function.parameters:
        if p.name in given.numbers:
            var = Var(p.name, p.type, function.span)
            evaluator.assign(var, Value(given.numbers[p.name]), known)
    walk = Walk(evaluator, _paces(function, evaluator, before))
    walk.block(function.body, known)
    result = walk.returned or everything(function.result)
    nodes, variables = evaluator.of_node, evaluator.of_variable
    inside, turns = evaluator.inside, evaluator.turns
    return Ranges(function, result, nodes, variables, inside, given.lengths, turns)


def _paces(
    function: Function, evaluator: Evaluator, before: Ranges | None
) -> induction_variables.Paces | None:
    """How fast loops move variables, by what is known anywhere; or by what a walk has found. None
    where there are no loops."""
    if not any(isinstance(s, For | While) for s in statements(function.body)):
        return None
    anywhere = replace(evaluator, recording=False)

    def ends(loop: While, var: Var, where: Interval) -> bool:
        known = Knowledge()
        anywhere.assign(var, Value(where), known)
        return anywhere.assume(loop.condition, known, True) is None

    if before is not None:
        return induction_variables.Paces(before.of, lambda var: before.variable(var.name), ends)
    return induction_variables.Paces(
        lambda e: anywhere.value(e, Knowledge()).interval, lambda var: everything(var.type), ends
    )


def _moved(function: Function) -> set[str]:
    """The variables that loops add to."""
    loops = (s for s in statements(function.body) if isinstance(s, (For, While)))
    return {name for loop in loops for name in induction_variables.moved_only(loop)}


def _at_the_start(function: Function, facts: Facts) -> Knowledge:
    """A variable that nothing has assigned reads 0; threads lie inside blocks, blocks in the
    grid."""
    known = Knowledge()
    for s in statements(function.body):
        if isinstance(s, (Assign, For)):
            term = variable_term(s.var)
            if term is not None:
                known.intervals[term] = Interval(0, 0)
    rows = {
        e.intrinsic.name: e.intrinsic
        for e in all_expressions(function.body)
        if isinstance(e, Apply)
    }
    for low, high in _BELOW:
        for axis in "xyz":
            inner, outer = rows.get(f"cuda.{low}.{axis}"), rows.get(f"cuda.{high}.{axis}")
            if inner is None or outer is None:
                continue
            bounds, limit = facts.bounds(inner), facts.bounds(outer)
            assert bounds is not None
            assert limit is not None
            known.relate(Term(outer.name, limit), Term(inner.name, bounds), 1)
    return known


# ---- what functions are given ------------------------------------------------------------------


def _given_to_kernel(function: Function, facts: Facts) -> Given:
    numbers: dict[str, Interval] = {}
    lengths: dict[tuple[str, int], Interval] = {}
    for p in function.parameters:
        if isinstance(p.type, Array):
            lengths |= {(p.name, axis): facts.given_lengths for axis in range(p.type.ndim)}
        elif is_whole(p.type):
            numbers[p.name] = facts.argument(p.type)
    return Given(numbers, lengths)


def given_anything(function: Function) -> Given:
    """For a function that may be called by anyone."""
    numbers = {p.name: everything(p.type) for p in function.parameters if is_whole(p.type)}
    return Given(numbers, {})


def _given_by(callers: Sequence[Ranges], function: Function) -> Given:
    """What all calls of a device function give it together."""
    numbers: dict[str, Interval] = {}
    lengths: dict[tuple[str, int], Interval] = {}
    for caller, p, argument in _arguments(callers, function):
        if isinstance(p.type, Array):
            for axis in range(p.type.ndim):
                given = caller.length(argument, axis)
                lengths[p.name, axis] = given.joined(lengths.get((p.name, axis), given))
        elif is_whole(p.type) and caller.reaches(argument):
            given = caller.of(argument)
            numbers[p.name] = given.joined(numbers.get(p.name, given))
    anything = given_anything(function)
    return Given({**anything.numbers, **numbers}, lengths)


def _arguments(
    callers: Sequence[Ranges], function: Function
) -> Iterator[tuple[Ranges, Parameter, Expr]]:
    for caller in callers:
        for e in _calls(caller.function, function.name):
            for p, argument in zip(function.parameters, e.arguments):
                yield caller, p, argument


def _calls(caller: Function, name: str) -> Iterator[Call]:
    for e in all_expressions(caller.body):
        if isinstance(e, Call) and e.function == name:
            yield e


# ---- whole modules -----------------------------------------------------------------------------


def analyse_module(module: Module, facts: Facts) -> Mapping[str, Ranges]:
    """Every function of a module, by its name; callers first, since they say what is given."""
    elements = dict(_elements(module))
    summaries = _Summaries({f.name: f for f in module.devices}, facts, elements)
    done = [analyse(module.kernel, facts, results=summaries.result, elements=elements)]
    waiting = list(module.devices)
    while waiting:
        function = waiting[-1]
        recursive = any(True for f in waiting for _ in _calls(f, function.name))
        given = given_anything(function) if recursive else _given_by(done, function)
        done.append(analyse(function, facts, given, summaries.result, elements))
        waiting.pop()
    return {ranges.function.name: ranges for ranges in done}


def _elements(module: Module) -> Iterator[tuple[str, Interval]]:
    for constant in module.constants:
        values = [
            int(e.value) for e in constant.values if isinstance(e, Const) and is_whole(e.type)
        ]
        if values:
            yield constant.var.name, Interval(min(values), max(values))


@dataclass(slots=True)
class _Summaries:
    """Where the results of device functions lie, from where their arguments do."""

    functions: Mapping[str, Function]
    facts: Facts
    elements: Elements
    _found: dict[tuple[str, tuple[Argument, ...]], Interval] = field(default_factory=dict)
    _active: list[str] = field(default_factory=list)

    def result(self, call: Call, given: Sequence[Argument]) -> Interval:
        if call.function in self._active:  # it is recursive
            return everything(call.type)
        function = self.functions[call.function]
        if sum(name == call.function for name, _ in self._found) >= _MOST_SUMMARIES:
            given = [
                () if isinstance(p.type, Array) else everything(p.type) for p in function.parameters
            ]
        key = (call.function, tuple(given))
        if key not in self._found:
            self._active.append(call.function)
            self._found[key] = self._analysed(function, given)
            self._active.pop()
        return self._found[key]

    def _analysed(self, function: Function, given: Sequence[Argument]) -> Interval:
        numbers: dict[str, Interval] = {}
        lengths: dict[tuple[str, int], Interval] = {}
        for p, fact in zip(function.parameters, given):
            if isinstance(fact, tuple):
                lengths |= {(p.name, axis): length for axis, length in enumerate(fact)}
            elif is_whole(p.type):
                numbers[p.name] = fact
        given_here = Given(numbers, lengths)
        return analyse(function, self.facts, given_here, self.result, self.elements).result
