"""Count the machine instructions of each line of Python by kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from pycu2c.annotate.listings import Line, Origin

# kinds, and patterns of SASS opcodes; an instruction has each kind that matches
KINDS = {
    "instructions": r".",
    "global memory": r"(LD|ST|LDG|STG|RED|ATOM|ATOMG|REDG)\b",
    "shared memory": r"(LDS|STS|ATOMS|LDSM|STSM)\b",
    "local memory": r"(LDL|STL)\b",
    "float64": r"(D(ADD|MUL|FMA|SETP|MNMX|MMA)|F2F\.F64|I2F\.F64|F2I\.\S*F64|MUFU\.\w+64H)",
    "branches": r"(BRA|BRX|JMP|CALL|RET|BSSY|BSYNC|WARPSYNC|BREAK|YIELD)\b",
    "barriers": r"(BAR|DEPBAR|MEMBAR|SYNCS)\b",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in KINDS.items()}
_INSTRUCTION = re.compile(r"[0-9a-f]{4,}  (?:\{ *)?(?:@!?U?P\w+ +)?([A-Z][\w.]*)")
Costs = dict[Origin, Counter[str]]


def instruction_costs(lines: Iterable[Line]) -> Costs:
    """Return how many instructions of each kind the lines of Python have, from SASS."""
    costs: Costs = {}
    for line in lines:
        instruction = _INSTRUCTION.match(line.text)
        if instruction and line.origin and instruction[1] != "NOP":
            kinds = [kind for kind, pattern in _PATTERNS.items() if pattern.match(instruction[1])]
            costs.setdefault(line.origin, Counter()).update(kinds)
    return costs
