"""Hints for records where a number, a tuple or a vector is required."""

from __future__ import annotations

from pycu2c.base.dtypes import DType, DTypeKind, vector_like
from pycu2c.base.types import Array, Scalar


def single_field_hint(value: object) -> str:
    """Return the hint for a record in place of a number; empty for other values."""
    record = _record(value)
    return (
        f"take one of its fields: r.{record.fields[0].name}{record_as_vector_hint(record)}"
        if record
        else ""
    )


def all_fields_hint(value: object) -> str:
    """Return the hint for a record in place of a tuple; empty for other values."""
    record = _record(value)
    if record is None:
        return ""
    fields = ", ".join(f"r.{f.name}" for f in record.fields)
    return f"write its fields: {fields}{record_as_vector_hint(record)}"


def vector_view_hint(*values: object) -> str:
    """Return the hint for a record with the layout of a required vector; also for types."""
    found = [_one(value) for value in values]
    records = [record for record in map(_record, values) if record]
    return next(
        (record_as_vector_hint(record) for record in records if vector_like(record) in found), ""
    )


def record_as_vector_hint(record: DType | None) -> str:
    """Return the hint for a record with the layout of a vector, or an empty string."""
    vector = vector_like(record) if record and record.kind is DTypeKind.RECORD else None
    return f"; to have a vector, pass a.view(cuda.{vector}.numpy)" if vector else ""


def _one(value: object) -> DType | None:
    """Return the type of one element or number."""
    kind = getattr(value, "type", value)
    if isinstance(kind, Array) and kind.ndim:
        return None
    return kind.dtype if isinstance(kind, (Scalar, Array)) else None


def _record(value: object) -> DType | None:
    record = _one(value)
    return record if record and record.kind is DTypeKind.RECORD else None
