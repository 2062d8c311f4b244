"""Lower PTX with named operands to C with inline assembly: ``"add.s32 %result, %x, 1;"``."""

from __future__ import annotations

import re

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.external_code import CodeLine
from pycu2c.base.source import Source
from pycu2c.base.types import Array, ParameterType, Scalar
from pycu2c.frontend.calls.declared_signatures import declared_signature
from pycu2c.frontend.scope.bindings import parameters

_OPERAND = re.compile(r"%([A-Za-z_]\w*)?")
_DECLARATION = re.compile(r"\.reg\b|^\s*[\w$]+:")  # registers, labels
_RESULT = "result"
_OWN_RESULT = "own_result"  # the C variable


def asm_text(lines: tuple[CodeLine, ...], source: Source, pure: bool) -> tuple[CodeLine, ...]:
    """Return the C body around the instructions; each line keeps the span of its Python line."""
    if not lines:
        fail(
            "inline-c",
            Label(source.span(source.tree), "its PTX text is empty"),
            hint='write @cuda.ptx_function("add.s32 %result, %x, %y;")',
        )
    types, result = _types(source)
    names = [*([_RESULT] if result is not None else []), *types]
    operand_numbers = {name: str(number) for number, name in enumerate(names)}
    # a scope, in case the function is inlined twice
    if any(_DECLARATION.search(line.text) for line in lines):
        lines = (CodeLine("{", lines[0].span), *lines, CodeLine("}", lines[-1].span))
    head = "asm(" if pure else "asm volatile("
    inputs = ", ".join(f'"{_constraint(types[n], n, source)}"({n})' for n in types)
    output = f'"={_constraint(result, "result", source)}"({_OWN_RESULT})' if result else ""
    clobbers = "" if pure else ' : "memory"'
    first, last = lines[0].span, lines[-1].span
    margin = " " * len(head)
    quoted = [CodeLine(margin + _quoted(line.text, operand_numbers), line.span) for line in lines]
    quoted[0] = CodeLine(head + quoted[0].text.lstrip(), first)
    out = [*quoted, CodeLine(f"{margin}: {output} : {inputs}{clobbers});", last)]
    if result is not None:
        out = [CodeLine(f"{result.dtype.cuda} {_OWN_RESULT};", first), *out]
        out.append(CodeLine(f"return {_OWN_RESULT};", last))
    return tuple(out)


def _types(source: Source) -> tuple[dict[str, ParameterType], Scalar | None]:
    """Return the types of the parameters, and of the result."""
    signature, names = declared_signature(source), [p.arg for p in parameters(source.tree.args)]
    if signature is None or signature.result is None or _RESULT in names:
        rename = ", and call no parameter result" if _RESULT in names else ""
        fail(
            "inline-c",
            Label(source.span(source.tree), "PTX operands need types"),
            hint=f"annotate it: def {source.name}(x: int32) -> int32{rename}",
        )
    result = signature.result if isinstance(signature.result, Scalar) else None
    return dict(zip(names, signature.parameters)), result


def _constraint(operand_type: ParameterType, name: str, source: Source) -> str:
    """Return the constraint of inline assembly for a type."""
    if isinstance(operand_type, Array):
        return "l"
    if isinstance(operand_type, Scalar) and not operand_type.weak:
        dtype = operand_type.dtype
        if dtype.is_integer and dtype.bits >= 16:
            return {16: "h", 32: "r", 64: "l"}[dtype.bits]
        if dtype.is_float and dtype.bits >= 32:
            return {32: "f", 64: "d"}[dtype.bits]
    fail(
        "inline-c",
        Label(
            source.span(source.tree),
            f"`{operand_type}`, the type of {name}, does not fit a register",
        ),
        hint="use integers of 16 to 64 bits, float32, float64, or arrays (by address)",
    )


def _quoted(text: str, operand_numbers: dict[str, str]) -> str:
    """Return a line of PTX as a C string literal, with numbered operands."""

    def operand(match: re.Match[str]) -> str:
        number = operand_numbers.get(match[1] or "")
        return f"%{number}" if number is not None else f"%{match[0]}"

    escaped = _OPERAND.sub(operand, text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}\\n"'
