"""Define C structs for the records, vectors, complex types and halves that a module uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycu2c.base.dtypes import UINT8, DType, DTypeKind
from pycu2c.base.types import Array, Scalar, Type
from pycu2c.codegen import half_types, packed_structs
from pycu2c.codegen.dialect import Dialect
from pycu2c.codegen.helpers import texture_helpers
from pycu2c.codegen.names import identifier
from pycu2c.csyntax import nodes as c
from pycu2c.ir.nodes import Allocate, Assign, Declare, Function, Module
from pycu2c.ir.walk import all_expressions, statements


def definition(dtype: DType) -> str:
    """Return the definition of a complex type or vector, with the layout of CUDA's ``float2``."""
    parts = f"{dtype.fields[0].dtype.c} {', '.join(f.name for f in dtype.fields)}"
    aligned = f"__attribute__((aligned({dtype.alignment})))"
    return f"typedef struct {{ {parts}; }} {aligned} {dtype.c};\n"


def loose_definition(dtype: DType) -> str:
    """Return the definition of the type without alignment, for packed structs."""
    return f"typedef {dtype.c} {_loose(dtype)} __attribute__((aligned(1)));\n"


def _loose(dtype: DType) -> str:
    return f"{dtype.c}_anywhere"


def older_name(dtype: DType) -> str:
    """Return aliases for vectors of 256 bits, which have other names before CUDA 13."""
    return f"typedef {dtype.name} {dtype.cuda};\n#define make_{dtype.cuda} make_{dtype.name}\n"


class Records:
    """The structs of one module, with their names."""

    def __init__(self, module: Module, dialect: Dialect) -> None:
        self.dialect = dialect
        self.names: dict[DType, str] = {}
        self.plain: dict[DType, None] = {}  # complex numbers and vectors, which CUDA declares
        self.loose: dict[DType, None] = {}  # those of them that are fields of packed structs
        self.halves: dict[DType, None] = {}
        self.handles: dict[str, None] = {}  # textures, surfaces
        self.copies: dict[DType, None] = {}  # fields of packed structs that need packed types
        tables = [k.var.type.dtype for k in module.constants if isinstance(k.var.type, Array)]
        self.half_tables = [row for row in map(_number_in, tables) if row.is_half]
        for dtype in tables:
            self._take(dtype)
        for function in (*module.devices, module.kernel):
            for kind in _types(function):
                if isinstance(kind, (Scalar, Array)):
                    self._take(kind.dtype)

    def _take(self, dtype: DType) -> None:
        """Collect a type; the types of fields precede a struct."""
        if dtype.handle is not None:
            self.handles[dtype.handle.access] = None
        if dtype.is_half:
            self.halves[dtype] = None
        if dtype.is_complex or dtype.is_vector:
            self._take(dtype.fields[0].dtype)
            self.plain[dtype] = None
        if dtype.kind is not DTypeKind.RECORD or dtype in self.names:
            return
        for field in dtype.fields:
            own = field.dtype.innermost
            self._take(own)
            if self._is_literal_expression(dtype, own):
                self.loose[own] = None
        if self.dialect.name == "cuda" and _is_packed(dtype):
            self._copy_fields(dtype)
        wish = identifier(dtype.short)
        chosen, count = wish, 0
        while chosen in self.names.values():
            count += 1
            chosen = f"{wish}_{count}"
        self.names[dtype] = chosen

    def _copy_fields(self, record: DType) -> None:
        """Collect the fields of a packed struct that need a type without alignment."""
        for field in record.fields:
            own = field.dtype.innermost
            if packed_structs.needs_copy(own):
                self._copy_fields(own)
                self.copies[own] = None

    def type_name(self, dtype: DType) -> str:
        """Return the C name of a dtype."""
        if dtype.kind is DTypeKind.RECORD:
            return f"struct {self.names[dtype]}"
        return self.dialect.type_name(dtype)

    def headers(self) -> list[c.Item]:
        """Return the headers of CUDA's half types."""
        in_cuda = self.dialect.name == "cuda"
        return [c.Include(half_types.HEADERS[d]) for d in self.halves] if in_cuda else []

    def definitions(self) -> list[c.Item]:
        """Return the definitions; a struct follows the structs of its fields."""
        known: list[c.Item] = []
        if self.dialect.name == "c":
            known += [c.Verbatim(half_types.definition(dtype)) for dtype in self.halves]
            known += [c.Verbatim(definition(dtype)) for dtype in self.plain]
            known += [c.Verbatim(loose_definition(dtype)) for dtype in self.loose]
            known += [c.Verbatim(texture_helpers.definition(access)) for access in self.handles]
            texts = [half_types.constant_definition(d) for d in dict.fromkeys(self.half_tables)]
            known += [c.Verbatim(text) for text in texts if text]
        else:
            wide = [older_name(d) for d in self.plain if d.bits == 256 and d.is_vector]
            if wide:
                text = f"#if __CUDACC_VER_MAJOR__ < 13\n{''.join(wide)}#endif\n"
                known.append(c.Verbatim(text))
        plain = (dtype for dtype in self.copies if dtype not in self.names)
        simple = {self.type_name(dtype): dtype for dtype in plain}.values()  # complex64 is float2
        known += [item for dtype in simple for item in self._copy(dtype)]
        for dtype, name in self.names.items():
            known.append(self._struct(dtype, name, _is_packed(dtype)))
            known += self._copy(dtype) if dtype in self.copies else []
        return known

    def _copy(self, dtype: DType) -> list[c.Item]:
        """Return the type without alignment, and the conversions."""
        name = self.type_name(dtype)
        text = c.Verbatim(packed_structs.conversions(dtype, name))
        if dtype.is_half:
            return [text]
        return [
            self._struct(dtype, packed_structs.packed_name(self.names.get(dtype, name)), True),
            text,
        ]

    def packed(self, dtype: DType, parts: tuple[c.Expr, ...]) -> c.Expr:
        """A value made of its parts."""
        in_cuda = self.dialect.name == "cuda"
        if dtype.kind is not DTypeKind.RECORD and in_cuda:
            return c.CallExpr(f"make_{dtype.cuda.removeprefix('__nv_')}", parts)
        name = self.names.get(dtype, "")
        pairs = zip(dtype.fields, parts, strict=True)
        parts = tuple(self.put([dtype], field.dtype, part) for field, part in pairs)
        return c.CompoundLiteral(name if in_cuda else f"({self.type_name(dtype)})", parts)

    def taken(self, record: DType, dtype: DType, place: c.Expr) -> c.Expr:
        """The value in a field, or in an element of one, which C has at ``place``."""
        copied = dtype in self.copies and _is_packed(record)
        return c.CallExpr("aligned", (place,)) if copied else place

    def put(self, records: Sequence[DType], dtype: DType, value: c.Expr) -> c.Expr:
        """What is stored for a value in a field of a record that lies in others."""
        copied = dtype in self.copies and any(map(_is_packed, records))
        return c.CallExpr("packed", (value,)) if copied else value

    def _is_literal_expression(self, record: DType, field: DType) -> bool:
        """Whether gcc has to be told that a field's type lies where it has no right to."""
        in_c = self.dialect.name == "c" and (field.is_vector or field.is_complex)
        return in_c and _is_packed(record)

    def _struct(self, dtype: DType, name: str, packed: bool) -> c.Struct:
        fields: list[c.ParameterDecl] = []
        end = 0
        for field in sorted(dtype.fields, key=lambda f: f.offset):
            natural = 1 if packed else field.dtype.alignment
            if -(-end // natural) * natural < field.offset:
                fields.append(self._padding(field.offset - end, len(fields)))
            kind: c.CType = c.NamedType(self._field_type(dtype, field.dtype.innermost, packed))
            if field.dtype.extents:
                kind = c.ArrayType(kind, field.dtype.extents)
            fields.append(c.ParameterDecl(kind, identifier(field.name)))
            end = field.offset + field.dtype.size
        natural = 1 if packed else dtype.alignment
        if -(-end // natural) * natural < dtype.size:
            fields.append(self._padding(dtype.size - end, len(fields)))
        return c.Struct(name, tuple(fields), packed)

    def _field_type(self, record: DType, dtype: DType, packed: bool) -> str:
        if packed and dtype in self.copies:
            return (
                f"struct {packed_structs.packed_name(self.names.get(dtype, self.type_name(dtype)))}"
            )
        return (
            _loose(dtype) if self._is_literal_expression(record, dtype) else self.type_name(dtype)
        )

    def _padding(self, size: int, number: int) -> c.ParameterDecl:
        byte = c.NamedType(self.dialect.type_name(UINT8))
        return c.ParameterDecl(c.ArrayType(byte, (size,)), f"unused{number}")


def _is_packed(record: DType) -> bool:
    """Whether C is to lay the fields out without gaps of its own."""
    return record.alignment == 1 and any(f.dtype.alignment > 1 for f in record.fields)


def _number_in(dtype: DType) -> DType:
    """The type of a vector's components; of any other type, itself."""
    return dtype.fields[0].dtype if dtype.is_vector else dtype


def _types(function: Function) -> Iterator[Type]:
    """Every type that a function mentions."""
    yield function.result
    for p in function.parameters:
        yield p.type
    for s in statements(function.body):
        if isinstance(s, (Allocate, Assign, Declare)):
            yield s.var.type
    for e in all_expressions(function.body):
        yield e.type
