"""What there is to say of a program: where, what, and what to write. Knows neither numba nor how
anything was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label, render_excerpts
from pycu2c.base.records import dataclass


class Weight(Enum):
    """What a remark asks of its reader."""

    HAND = "by hand"  # it will not run, or not give what it gave
    DIFFERS = "differs"  # it runs, and numbers may be others
    NOTE = "note"


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of remark, and its title."""

    name: str
    weight: Weight
    title: str


ABSENT = Kind("name", Weight.HAND, "this name of numba.cuda is not here")
STAR = Kind("star", Weight.HAND, "names that are imported with * cannot be told apart")
TEXT = Kind("text", Weight.HAND, "a string names numba.cuda, and stays as it is")
VARIABLE = Kind("environment", Weight.HAND, "an environment variable of numba's is not read")
METHOD = Kind("method", Weight.HAND, "a method of numba's kernels gives nothing here")
REFUSED = Kind("compile", Weight.HAND, "a kernel does not compile as it is")
SMALL = Kind(
    "small-integers",
    Weight.HAND,
    "numba computes 8- and 16-bit integers in 64 bits; here they wrap in their own width",
)
FLOAT64 = Kind("float64", Weight.DIFFERS, "numba computes this in float64, pycu2c in float32")
INT32 = Kind("int32", Weight.DIFFERS, "numba computes this in int64, pycu2c in 32 bits")
SIGN = Kind("sign", Weight.DIFFERS, "int64 and uint64 together are int64 in numba")
UNTYPED = Kind(
    "float32",
    Weight.DIFFERS,
    "beside float32, this is float64 in numba and float32 in pycu2c; small integers wrap",
)
STAYS = Kind("numba", Weight.NOTE, "this stays numba's")

KINDS = (
    ABSENT, STAR, TEXT, VARIABLE, METHOD, REFUSED, SMALL, FLOAT64, INT32, SIGN, UNTYPED,
    STAYS,
)  # fmt: skip

_MOST_LINES = 8  # that are named where one remark is for many


@dataclass(frozen=True, slots=True, eq=False)
class Remark:
    """``labels``: the place itself first. Of remarks of one kind with a ``topic`` in common, the
    first stands for all."""

    kind: Kind
    labels: tuple[Label, ...]
    hint: str = ""
    topic: str = ""
    title: str = ""

    @property
    def place(self) -> tuple[str, int, int]:
        span = self.labels[0].span
        return span.file, span.line, span.column

    def __str__(self) -> str:
        title = self.title or self.kind.title
        head = f"{self.kind.weight.value}[{self.kind.name}]: {title}"
        return "\n".join(render_excerpts(head, self.labels, self.hint))


def of_error(error: CompileError) -> list[Remark]:
    """What the compiler says of a kernel."""
    return [_of_diagnostic(d) for d in error.diagnostics if d.labels]


def _of_diagnostic(found: Diagnostic) -> Remark:
    return Remark(REFUSED, found.labels, found.hint, title=f"{found.title} ({found.code})")


def each_once(found: Iterable[Remark]) -> list[Remark]:
    """In the order of the text, by weight; what is said of a place for several types, once."""
    weights = list(Weight)
    ordered = sorted(found, key=lambda r: (weights.index(r.kind.weight), *r.place))
    return list({(r.kind, r.place, r.title): r for r in reversed(ordered)}.values())[::-1]


def gathered(found: Iterable[Remark]) -> list[Remark]:
    """One for each topic, which names the lines of the others."""
    topics: dict[tuple[object, ...], list[Remark]] = {}
    for remark in found:
        key = remark.topic or remark.place
        topics.setdefault((remark.kind, key, remark.title), []).append(remark)
    return [_standing_for(same) for same in topics.values()]


def _standing_for(found: Sequence[Remark]) -> Remark:
    first = found[0]
    lines = sorted({r.place[1] for r in found} - {first.place[1]})
    if not lines:
        return first
    shown = ", ".join(map(str, lines[:_MOST_LINES])) + " …" * (len(lines) > _MOST_LINES)
    also = f"so is line {shown}" if len(lines) == 1 else f"so are lines {shown}"
    here, *others = first.labels
    label = Label(here.span, f"{here.text}; {also}" if here.text else also)
    return Remark(first.kind, (label, *others), first.hint, first.topic, first.title)
