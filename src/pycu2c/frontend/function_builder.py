"""Build the IR of a module: lower a function repeatedly until the types of its variables settle."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import TypeAlias

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label, fail
from pycu2c.base.parameters import OverlapRule
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.recursion_limit import MAX_NESTED_CALLS, frames_for_calls
from pycu2c.base.source import Source, Span
from pycu2c.base.types import Array, ParameterType, Scalar, Signature, promote
from pycu2c.frontend import hints
from pycu2c.frontend.calls import declared_signatures
from pycu2c.frontend.constant_conversions import check_constant_conversions
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.composite_values import displayed_type, result_type, value_of_type
from pycu2c.frontend.expressions.expression_visitor import expression
from pycu2c.frontend.expressions.module_limits import check_integer_constants, check_memory_limits
from pycu2c.frontend.function_context import (
    ArgumentTypes,
    BuildOptions,
    FunctionContext,
    UnknownType,
)
from pycu2c.frontend.line_marks import with_line_marks
from pycu2c.frontend.narrow_accumulators import narrow_accumulators
from pycu2c.frontend.scope.bindings import parameters as parameters_of
from pycu2c.frontend.scope.live_ranges import live_ranges, maybe_undefined_reads
from pycu2c.frontend.scope.variables import set_array
from pycu2c.frontend.statements import exceptions
from pycu2c.frontend.statements.returns import (
    check_result_type,
    common_result_type,
    convert_returns,
)
from pycu2c.frontend.statements.statement_visitor import block
from pycu2c.frontend.subset.subset_check import check_subset
from pycu2c.frontend.value_checks import is_array
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import transitive_callees
from pycu2c.ir.name_suffixes import ARGUMENT
from pycu2c.ir.walk import all_expressions, contains, expressions, operands

FunctionKey: TypeAlias = tuple[Source, ArgumentTypes]

# Types settle in two or three passes; a chain of n loop-carried names takes n. After this many
# passes each type is joined with that of the pass before, which guarantees termination.
_MAX_PASSES_BEFORE_JOIN = 20
_MAX_RECURSIVE_TYPES = 16  # of the arguments of one recursive function


class RecursionFound(Exception):
    """Device functions call each other, so the build restarts with their declared signatures."""

    def __init__(self, functions: tuple[Source, ...]) -> None:
        super().__init__(", ".join(source.name for source in functions))
        self.functions = functions


@dataclass(frozen=True, slots=True)
class BuiltModule:
    """A module, and the warnings about its source."""

    module: ir.Module
    warnings: tuple[Diagnostic, ...] = ()


_DEFAULT_OPTIONS = BuildOptions()


def build(
    source: Source, signature: Signature, options: BuildOptions = _DEFAULT_OPTIONS
) -> BuiltModule:
    """Type a kernel and lower it to IR. Raises CompileError with all diagnostics."""
    builder, module = _build_module(source, signature.parameters, options, is_kernel=True)
    return BuiltModule(module, tuple(builder.warnings))


def build_device(source: Source, types: ArgumentTypes) -> tuple[ir.Module, ParameterType]:
    """Type and lower a device function as the kernel of a module; also return its result type.

    Raises CompileError.
    """
    builder, module = _build_module(source, types, _DEFAULT_OPTIONS, is_kernel=False)
    result = builder.results[source, types]
    assert result is not None, "it is built"
    return module, result


def _build_module(
    source: Source, types: ArgumentTypes, options: BuildOptions, *, is_kernel: bool
) -> tuple[_ModuleBuilder, ir.Module]:
    recursive: frozenset[Source] = frozenset()
    while True:
        builder = _ModuleBuilder(source.name, recursive, options)
        try:
            function = builder.function(source, types, is_kernel=is_kernel)
        except RecursionFound as recursion:
            recursive |= frozenset(recursion.functions)
            continue
        devices = called_functions(function, tuple(builder.devices.values()))
        constants = _used_constants((function, *devices), builder.constants)
        module = ir.Module(function, devices, constants, options.cluster)
        with frames_for_calls(len(devices)):
            for device_function in devices:
                _check_recursion_ends(device_function)
            check_memory_limits(module)
            check_integer_constants(module)
            check_constant_conversions(module)
        return builder, module


@dataclass(slots=True)
class _ModuleBuilder:
    kernel_name: str
    recursive: frozenset[Source]  # recursive device functions
    options: BuildOptions
    devices: dict[FunctionKey, ir.Function] = field(default_factory=dict)
    results: dict[FunctionKey, ParameterType | None] = field(default_factory=dict)
    names: dict[FunctionKey, str] = field(default_factory=dict)
    constants: dict[object, ir.ConstantArray] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)
    made_functions: dict[object, object] = field(default_factory=dict)
    constant_parameters: dict[Source, frozenset[str]] = field(default_factory=dict)
    _active: list[FunctionKey] = field(default_factory=list)
    # the recursive functions whose result types are being inferred; None outside of inference
    _inferring: set[FunctionKey] | None = None

    def function(self, source: Source, types: ArgumentTypes, *, is_kernel: bool) -> ir.Function:
        """Build one function: repeat passes until the types of its variables settle."""
        if source.external_code is not None and not source.external_code.has_python_body:
            return self._external_function(source, types)
        context, body = _iterate_to_fixpoint(self._new_context(source, types, is_kernel), types)
        if context.problems:
            raise CompileError(_unique(context.problems))
        for name, span in context.untyped_reads:  # no pass has found a type
            python_name = name.split(".")[0]
            fail(
                "name",
                Label(
                    span,
                    f"`{python_name}` has no first value: it is computed from itself, or assigned "
                    "in a branch that never runs",
                ),
                hint=f"give {python_name} a value before the loop or branch",
            )
        return self._finish(source, context, body, types)

    def _new_context(
        self, source: Source, types: ArgumentTypes, is_kernel: bool
    ) -> FunctionContext:
        parameters = parameters_of(source.tree.args)
        if len(parameters) != len(types):
            names = ", ".join(p.arg for p in parameters)
            count = hints.count_phrase(len(types), "type")
            fail(
                "signature",
                Label(source.span(source.tree), f"{count} for ({names})"),
                hint=f"write one type for each parameter, not ({', '.join(map(str, types))})",
            )
        problems = check_subset(source)
        if problems:
            raise CompileError(problems)
        marked = with_line_marks(source) if self.options.line_marks else source
        ranges = live_ranges(marked.tree)
        context = FunctionContext(marked, ranges, {}, self, expression, block, is_kernel)
        context.constants = self.constants
        signature = None if is_kernel else self.signature(source)
        context.declared_result = signature.result if signature else None
        return context

    def _finish(
        self, source: Source, context: FunctionContext, body: ir.Body, types: ArgumentTypes
    ) -> ir.Function:
        result = check_result_type(context, body)
        body = convert_returns(context, body, result)
        if source.external_code is not None:
            declared_signatures.check_c_types(source, types, result, context.thread_exits)
        if context.thread_exits:
            body = exceptions.return_exit_flag(context, body, result)
            result = exceptions.with_exit_flag(result)
        self.results[source, types] = result
        self.warnings += _maybe_undefined(context)
        self.warnings += narrow_accumulators(context, body)
        parameters, conversions = _parameters(context, types)
        return ir.Function(
            source.name,
            source.name,
            parameters,
            result_type(result),
            conversions + body,
            source.span(source.tree),
            source.external_code,
            tuple(sorted(context.overlap_rules)),
        )

    # ---- device functions ----

    def _external_function(self, source: Source, types: ArgumentTypes) -> ir.Function:
        """Return a function that has only a C body."""
        signature = self.signature(source)
        function = declared_signatures.external_function(source, types, signature)
        assert signature is not None
        self.results[source, types] = signature.result
        return function

    def signature(self, source: Source) -> Signature | None:
        """Return the types to which arguments are converted; annotations count only if required."""
        has_signature = source.signature or source.external_code or source in self.recursive
        return declared_signatures.declared_signature(source) if has_signature else None

    def specialize(
        self, source: Source, types: ArgumentTypes, span: Span
    ) -> tuple[str, ParameterType]:
        """Return the name and result type of a device function; build it once per ``types``."""
        key = (source, types)
        if source in [active for active, _ in self._active]:
            self._check_recursion(key, span)
        if key not in self.devices and key not in self._active:
            if self._inferring is not None and source in self.recursive:
                self.names.setdefault(key, self._free_name(source))
                self._infer_result(key)
            else:
                self.devices[key] = self._build_device(key, span)
        result = self.results[key]
        if result is None:  # the function is being built
            raise UnknownType
        return self.names[key], result

    def overlap_rules(self, source: Source, types: ArgumentTypes) -> tuple[OverlapRule, ...]:
        """Return the overlap rules of a function; none for a recursive call."""
        built = self.devices.get((source, types))
        return built.overlap_rules if built else ()

    def _check_recursion(self, key: FunctionKey, span: Span) -> None:
        """Check the call of a function that is being built.

        Raise RecursionFound if it is not known to be recursive.
        """
        active = [source for source, _ in self._active]
        cycle = self._active[active.index(key[0]) :]
        functions = tuple(source for source, _ in cycle)
        typed = [types for source, types in (*self.names, *self._active) if source is key[0]]
        if len({*typed}) > _MAX_RECURSIVE_TYPES:
            declared_signatures.report_no_signature(key[0], typed[0], span)
        if not self.recursive.issuperset(functions):
            for function in functions:
                declared_signatures.require_named(function, span)
            raise RecursionFound(functions)

    def _build_device(self, key: FunctionKey, span: Span) -> ir.Function:
        source, types = key
        self._active.append(key)
        try:
            with frames_for_calls(len(self._active) <= MAX_NESTED_CALLS):
                return self._build_active(key)
        except CompileError as error:
            raise _with_call(error, Label(span, _call_text(source, types))) from None
        finally:
            self._active.pop()

    def _build_active(self, key: FunctionKey) -> ir.Function:
        source, types = key
        if source in self.recursive:
            self.names.setdefault(key, self._free_name(source))
            built = self._build_recursive(key)
        else:
            built = self.function(source, types, is_kernel=False)
            self.names[key] = self._free_name(source)
        return replace(built, name=self.names[key])

    def _free_name(self, source: Source) -> str:
        used = {self.kernel_name, *self.names.values()}
        return f"{source.name}.{len(self.names)}" if source.name in used else source.name

    def _build_recursive(self, key: FunctionKey) -> ir.Function:
        """Rebuild a recursive function until its result type is the assumed one.

        Recursive functions that it calls are rebuilt with it.
        """
        source, types = key
        self._infer_result(key)
        if self.results[key] is None:
            declared_signatures.report_no_result(source)
        while True:
            assumed, devices_before = self.results[key], set(self.devices)
            built = self.function(source, types, is_kernel=False)
            if self.results[key] == assumed:
                return built
            for other in self.devices.keys() - devices_before:
                if other[0] in self.recursive:
                    del self.devices[other]

    def _infer_result(self, key: FunctionKey) -> None:
        """Set the result type of a recursive function: the declared one, or that of its returns."""
        source, types = key
        signature = self.signature(source)
        self.results[key] = signature.result if signature else None
        if self.results[key] is not None:
            return
        outer_inferring = self._inferring
        self._inferring = {key} if outer_inferring is None else outer_inferring | {key}
        self._active.append(key)
        try:
            context, _ = _iterate_to_fixpoint(
                self._new_context(source, types, is_kernel=False), types
            )
        finally:
            self._active.pop()
            if outer_inferring is None:
                self._inferring = None
        if context.problems:
            raise CompileError(_unique(context.problems))
        self.results[key] = common_result_type(context)


def _check_recursion_ends(function: ir.Function) -> None:
    """Raise CompileError if a function calls itself before any condition or return."""
    for s in function.body:
        evaluated = [e for operand in operands(s) for e in expressions(operand)]
        for e in evaluated:
            if isinstance(e, ir.Call) and e.function == function.name:
                if any(isinstance(other, ir.Logical | ir.Select) for other in evaluated):
                    return
                fail(
                    "recursion",
                    Label(e.span, f"{function.python_name} calls itself on every path"),
                    hint="return without this call on some path: if n < 2: return 1",
                )
        if contains((s,), ir.Return):
            return


def _with_call(error: CompileError, call: Label) -> CompileError:
    """Add the call to the diagnostics of the called function."""
    return CompileError([replace(d, labels=(*d.labels, call)) for d in error.diagnostics])


def _call_text(source: Source, types: ArgumentTypes) -> str:
    text = "called here"
    if source.name == source.python.__name__ and types:  # a local function has captured parameters
        text += f", with {', '.join(f'`{displayed_type(t)}`' for t in types)}"
    return f"{text}; {source.name} is a function of numba" if source.is_numba else text


def called_functions(
    kernel: ir.Function, devices: tuple[ir.Function, ...]
) -> tuple[ir.Function, ...]:
    """Return the functions reachable from a kernel; early passes may have built others."""
    if not devices:
        return ()
    needed = transitive_callees((*devices, kernel))[kernel.name]
    return tuple(f for f in devices if f.name in needed)


def _used_constants(
    functions: tuple[ir.Function, ...], constants: Mapping[object, ir.ConstantArray]
) -> tuple[ir.ConstantArray, ...]:
    """Return the constant arrays that the functions read."""
    if not constants:
        return ()
    names = {e.name for f in functions for e in all_expressions(f.body) if isinstance(e, ir.Var)}
    return tuple(constant for constant in constants.values() if constant.var.name in names)


def _iterate_to_fixpoint(
    context: FunctionContext, types: ArgumentTypes
) -> tuple[FunctionContext, ir.Body]:
    """Lower a function until types settle and all loops over tuples are unrolled."""
    passes = 0
    while True:
        body = _lower_once(context, types)
        if context.unroller.pending:
            context, passes = context.with_unrolled_loops(), 0
            continue
        if passes >= _MAX_PASSES_BEFORE_JOIN:
            context.types = _join_types(context.previous_types, context.types)
        was_final = not context.previous_types and not context.types_changed
        is_stable = was_final or context.types == context.previous_types
        if is_stable and not context.arrays_changed:
            return context, body
        context, passes = context.next_pass(), passes + 1


def _join_types(
    old_types: Mapping[str, Scalar], new_types: Mapping[str, Scalar]
) -> dict[str, Scalar]:
    """Join the types of two passes, so that no type narrows."""
    result = dict(old_types)
    for name, new_type in new_types.items():
        old_type = old_types.get(name, new_type)
        result[name] = new_type if old_type == new_type else promote(old_type, new_type)
    return result


def _lower_once(context: FunctionContext, types: ArgumentTypes) -> ir.Body:
    """Run one pass over a function: parameters, then statements."""
    source, positions = context.source, count()
    selections: list[ir.Stmt] = []
    for node, parameter_type in zip(parameters_of(source.tree.args), types):
        name, span = context.ranges.names[id(node)], source.span(node)
        context.origins[name] = span

        def leaf(leaf_name: str, leaf_type: Scalar | Array, span: Span = span) -> ir.Expr:
            position = next(positions)
            if isinstance(leaf_type, Array):
                context.array_parameters[leaf_name] = position
                return ir.Var(leaf_name, leaf_type, span)
            context.types[leaf_name] = leaf_type
            context.origins[leaf_name] = span
            return context.variable(leaf_name, span)

        value = value_of_type(name, parameter_type, span, leaf)
        if is_array(value) and name not in context.ranges.invariant:
            # the name may refer to other arrays, too
            with context.block() as statements:
                set_array(context, name, value, span)
            selections += statements
        elif not isinstance(parameter_type, Scalar):
            context.bound_values[name] = value
    return (*selections, *block(context, source.tree.body))


def _unique(problems: list[Diagnostic]) -> list[Diagnostic]:
    """Remove repeated diagnostics of loop bodies and of functions that are called twice."""
    first: dict[tuple[str, Label], Diagnostic] = {}
    for problem in problems:
        first.setdefault((problem.code, problem.labels[0]), problem)
    return list(first.values())


def _parameters(
    context: FunctionContext, types: ArgumentTypes
) -> tuple[tuple[ir.Parameter, ...], ir.Body]:
    """Return a parameter for each scalar and array, and conversions to the variables' types."""
    parameters: list[ir.Parameter] = []
    conversions: list[ir.Stmt] = []
    for node, parameter_type in zip(parameters_of(context.source.tree.args), types):
        span = context.span(node)

        def leaf(name: str, leaf_type: Scalar | Array, span: Span = span) -> ir.Expr:
            variable_type = context.types.get(name)
            if variable_type is not None and variable_type != leaf_type:
                argument = ir.Var(f"{name}.{ARGUMENT}", leaf_type, span)
                value = coerce(argument, variable_type)
                conversions.append(ir.Assign(ir.Var(name, variable_type, span), value, span))
                name = argument.name
            parameters.append(ir.Parameter(name, leaf_type, len(parameters)))
            return ir.Var(name, leaf_type, span)

        value_of_type(context.ranges.names[id(node)], parameter_type, span, leaf)
    return tuple(parameters), tuple(conversions)


def _maybe_undefined(context: FunctionContext) -> list[Diagnostic]:
    """Warn of reads that some paths have not assigned; they read 0."""
    warnings = []
    for node, assignments in maybe_undefined_reads(context.source.tree, context.constant_tests):
        labels = tuple(Label(context.span(a), "assigned here, on some paths") for a in assignments)
        read = Label(context.span(node), f"`{node.id}` may have no value here, and would read 0")
        hint = f"assign {node.id} before the branch or loop"
        warnings.append(Diagnostic("maybe-undefined", (read, *labels), hint, severity="warning"))
    return _unique(warnings)
