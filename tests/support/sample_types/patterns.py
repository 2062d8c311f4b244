"""Match samples with the patterns of ``match`` statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from pycu2c.base.dtypes import DTypeKind
from support.sample_types.samples import UNKNOWN, Sample, is_tuple, number_type

Captures = list[tuple[ast.AST, Sample]]
StaticValue = Callable[[ast.expr], Any]


def matches(
    static_value: StaticValue, pattern: ast.pattern, sample: Sample, captures: Captures
) -> bool | None:
    """Return whether a value matches, None if numbers decide; add what the pattern captures."""
    match pattern:
        case ast.MatchAs(pattern=inner, name=name):
            truth = True if inner is None else matches(static_value, inner, sample, captures)
            if name is not None:
                captures.append((pattern, sample))
            return truth
        case ast.MatchOr(patterns=patterns):
            return _any_matches(static_value, patterns, sample, captures)
        case ast.MatchSequence(patterns=patterns):
            return _sequence_matches(static_value, patterns, sample, captures)
        case ast.MatchSingleton(value=value):
            return _singleton_matches(value, sample)
        case ast.MatchValue(value=value):
            return _value_matches(static_value(value), sample)
        case _:
            return None


def _any_matches(
    static_value: StaticValue,
    patterns: Sequence[ast.pattern],
    sample: Sample,
    captures: Captures,
) -> bool | None:
    truths: list[bool | None] = []
    for pattern in patterns:
        captured: Captures = []
        truths.append(matches(static_value, pattern, sample, captured))
        if truths[-1] is not False:
            captures += captured
        if truths[-1]:
            break
    return True if truths == [True] else False if set(truths) == {False} else None


def _sequence_matches(
    static_value: StaticValue,
    patterns: Sequence[ast.pattern],
    sample: Sample,
    captures: Captures,
) -> bool | None:
    if sample is UNKNOWN:
        items = [UNKNOWN] * len(patterns)
    elif is_tuple(sample):
        items = [*sample]
    else:
        return False
    stars = [i for i, pattern in enumerate(patterns) if isinstance(pattern, ast.MatchStar)]
    rest = len(items) - len(patterns) + len(stars)
    if rest < 0 or (not stars and rest):
        return False
    for i in stars:
        items[i : i + rest] = [tuple(items[i : i + rest])]
    truths: list[bool | None] = []
    for pattern, item in zip(patterns, items):
        if not isinstance(pattern, ast.MatchStar):
            truths.append(matches(static_value, pattern, item, captures))
        elif pattern.name is not None:
            captures.append((pattern, item))
    return False if False in truths else None if None in truths else True


def _singleton_matches(value: bool | None, sample: Sample) -> bool | None:
    if sample is UNKNOWN:
        return None
    if value is None:
        return sample is None
    scalar = number_type(sample)
    is_bool = scalar is not None and scalar.dtype.kind is DTypeKind.BOOL
    return None if is_bool else False


def _value_matches(value: Any, sample: Sample) -> bool | None:
    """Numbers are compared at run time, strings and other objects when the kernel is compiled."""
    if sample is UNKNOWN or number_type(sample) is not None:
        return None if sample is UNKNOWN or number_type(value) is not None else False
    return bool(value == sample) if isinstance(sample, str) else False
