"""What the lanes of a warp do together, all of them or some; barriers that give something.

A shuffle takes from a lane that is there: where the watch finds that it does not, the case has no
meaning. Floats are not compared bit by bit, as NaNs of one value have several.
"""

from __future__ import annotations

from fuzzing.operations import condition
from fuzzing.statements import loops, nests, statements, together, value, writes
from fuzzing.writing import SMALL, Writer
from pycu2c.base.types import WEAK_INT, Scalar, int32, int64, uint32, uint64

ALL = "0xffffffff"
REDUCED = (int32, uint32, int64, uint64, WEAK_INT)
_MASK_BITS = 33


@writes(1.5, together)
def exchange_by_lanes(w: Writer) -> None:
    """A shuffle of all lanes, of a number of any type."""
    kind = w.scalar()
    text, name = _shuffle(w, kind), w.fresh()
    w.line(f"{name} = {text}")
    w.declare(name, kind)


def _shuffle(w: Writer, kind: Scalar) -> str:
    arguments, few = value(w, kind), w.rng.randrange(4)
    width = _greatest_part(w.threads)
    place = w.rng.randrange(w.threads) % 32
    return w.pick(
        (
            f"cuda.shfl_sync({ALL}, {arguments}, {place})",
            f"cuda.shfl_sync({ALL}, {arguments}, cuda.laneid + {few}, {width})",
            f"cuda.shfl_up_sync({ALL}, {arguments}, {few})",
            f"cuda.shfl_down_sync({ALL}, {arguments}, {few}, width={width})",
            f"cuda.shfl_xor_sync({ALL}, {arguments}, {few % width}, {width})",
        )
    )


def _greatest_part(threads: int) -> int:
    """Of the widths that a shuffle may have, one of which all parts of the block are full."""
    return max(n for n in (1, 2, 4, 8, 16, 32) if threads % n == 0)


@writes(1.5, together)
def ask_all_lanes(w: Writer) -> None:
    """A vote, a ballot, a match or a reduction."""
    _ask(w, ALL)


def _asked(w: Writer, mask: str) -> tuple[str, Scalar, int]:
    """The text, its type and the bits of a weak int."""
    kind = w.pick(REDUCED)
    of = w.pick(("add", "min", "max", "and", "or", "xor"))
    return w.pick(
        (
            (f"cuda.ballot_sync({mask}, {condition(w, 2)})", WEAK_INT, _MASK_BITS),
            (f"cuda.match_any_sync({mask}, {value(w, kind)})", WEAK_INT, _MASK_BITS),
            (f"cuda.match_all_sync({mask}, {value(w, kind)})[0]", WEAK_INT, _MASK_BITS),
            (
                f"int(cuda.{w.pick(('any', 'all', 'eq'))}_sync({mask}, {condition(w, 1)}))",
                WEAK_INT,
                1,
            ),
            (
                f"cuda.reduce_{of}_sync({mask}, {kind.dtype.name}({value(w, kind)}))",
                kind,
                SMALL + 5,
            ),
        )
    )


@writes(0.7, together)
def count_over_the_block(w: Writer) -> None:
    """A barrier that says for how many: all threads know the same then."""
    name = w.fresh()
    of = w.pick(("count", "and", "or"))
    w.line(f"{name} = cuda.syncthreads_{of}({condition(w, 2)})")
    w.declare(name, WEAK_INT, fixed=True, uniform=True, bits=6)


@writes(1, together, nests)
def some_lanes(w: Writer) -> None:
    """Those for whom something holds meet among themselves; sometimes the others do."""
    mask, test = w.fresh("k"), w.fresh("k")
    w.line(f"{test} = bool({condition(w, 2)})")
    w.line(f"{mask} = cuda.ballot_sync({ALL}, {test})")
    w.declare(mask, WEAK_INT, fixed=True, bits=_MASK_BITS)
    kind = w.scalar()
    text, name = value(w, kind), w.fresh()
    w.line(f"{name} = {text}")
    w.declare(name, kind)
    with w.block_of(f"if {test}:", uniform=False, breaks=False):
        w.line(f"{name} = cuda.shfl_sync({mask}, {value(w, kind)}, cuda.ffs({mask}) - 1)")
        _ask(w, mask)
        statements(w, 2)
    if w.chance(0.5):
        with w.block_of("else:", uniform=False, breaks=False):
            _ask(w, f"{ALL} & ~{mask}")


def _ask(w: Writer, mask: str) -> None:
    text, kind, bits = _asked(w, mask)
    name = w.fresh()
    w.line(f"{name} = {text}")
    w.declare(name, kind, bits=bits)


@writes(0.7, together, loops)
def as_many_rounds(w: Writer) -> None:
    """A loop of another length for each thread: those of one length meet in it."""
    rounds, mask, counter = w.fresh("k"), w.fresh("k"), w.fresh("n")
    w.line(f"{rounds} = ({value(w, WEAK_INT)}) % 3")
    w.line(f"{mask} = cuda.match_any_sync({ALL}, {rounds})")
    with w.block_of(
        f"for {counter} in range({rounds}):",
        uniform=False,
        breaks=False,
        loops=w.place.loops + 1,
        together=True,
    ):
        w.declare(counter, WEAK_INT, fixed=True, bits=2)
        _ask(w, mask)
        statements(w, 2)
