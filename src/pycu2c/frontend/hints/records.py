"""What to write where a record is no number, no tuple and no vector. Knows no more of values than
their types."""

from __future__ import annotations

from pycu2c.base.dtypes import DType, DTypeKind, vector_like
from pycu2c.base.types import Array, Scalar


def single_field_hint(value: object) -> str:
    """Instead of a record, where a number is meant; empty for other values."""
    row = _record(value)
    return (
        f"take one of its fields: r.{row.fields[0].name}{record_as_vector_hint(row)}" if row else ""
    )


def all_fields_hint(value: object) -> str:
    """Instead of a record, where several values are meant; empty for other values."""
    row = _record(value)
    if row is None:
        return ""
    return f"write its fields: {', '.join(f'r.{f.name}' for f in row.fields)}{record_as_vector_hint(row)}"


def vector_view_hint(*values: object) -> str:
    """More of a cure where a vector meets a record that is laid out like it. Of types, too."""
    found = [_one(value) for value in values]
    rows = [row for row in map(_record, values) if row]
    return next((record_as_vector_hint(row) for row in rows if vector_like(row) in found), "")


def record_as_vector_hint(row: DType | None) -> str:
    """More of a cure for a record; nothing, unless it is laid out like a vector."""
    vector = vector_like(row) if row and row.kind is DTypeKind.RECORD else None
    return f"; to have a vector, pass a.view(cuda.{vector}.numpy)" if vector else ""


def _one(value: object) -> DType | None:
    """The type of one element or number."""
    kind = getattr(value, "type", value)
    if isinstance(kind, Array) and kind.ndim:
        return None
    return kind.dtype if isinstance(kind, (Scalar, Array)) else None


def _record(value: object) -> DType | None:
    row = _one(value)
    return row if row and row.kind is DTypeKind.RECORD else None
