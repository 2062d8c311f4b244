"""Define C structs for the records, vectors, complex types and halves that a module uses."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence, Set

from pycu2c.base.dtypes import UINT8, DType, DTypeKind, RecordField
from pycu2c.base.types import Array, Scalar, Type
from pycu2c.codegen import half_types, packed_structs
from pycu2c.codegen.dialect import Dialect
from pycu2c.codegen.helpers.templates import c_definition
from pycu2c.codegen.names import identifier, unique_name
from pycu2c.csyntax import nodes as c
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, statements


def definition(dtype: DType) -> str:
    """Return the definition of a complex type or vector, with the layout of CUDA's ``float2``."""
    parts = f"{dtype.fields[0].dtype.c} {', '.join(f.name for f in dtype.fields)}"
    aligned = f"__attribute__((aligned({dtype.alignment})))"
    return f"typedef struct {{ {parts}; }} {aligned} {dtype.c};\n"


def _unaligned_definition(dtype: DType) -> str:
    """Return the definition of the type without alignment, for packed structs."""
    return f"typedef {dtype.c} {_unaligned_name(dtype)} __attribute__((aligned(1)));\n"


def _unaligned_name(dtype: DType) -> str:
    return f"{dtype.c}_unaligned"


def _aliases_before_cuda_13(dtype: DType) -> str:
    """Return aliases for a vector of 256 bits, which has another name before CUDA 13."""
    return f"typedef {dtype.name} {dtype.cuda};\n#define make_{dtype.cuda} make_{dtype.name}\n"


class Structs:
    """The structs of one module, with their names, which are none of ``functions``."""

    def __init__(self, module: ir.Module, dialect: Dialect, functions: Set[str]) -> None:
        self.dialect, self.functions = dialect, functions
        self.names: dict[DType, str] = {}
        self.vectors: dict[DType, None] = {}  # also complex types; CUDA declares both
        self.unaligned: dict[DType, None] = {}  # vectors and complex numbers in packed structs
        self.halves: dict[DType, None] = {}
        self.handle_types: dict[str, None] = {}  # textures, surfaces
        # types of fields of packed structs, which loads and stores convert (packed_structs.py)
        self.packed_field_dtypes: dict[DType, None] = {}
        constants = [k.var.type.dtype for k in module.constants if isinstance(k.var.type, Array)]
        components = itertools.chain.from_iterable(map(_components, constants))
        self.half_constants = [dtype for dtype in components if dtype.is_half]
        for dtype in constants:
            self._collect(dtype)
        for function in (*module.device_functions, module.kernel):
            for t in _types_in(function):
                if isinstance(t, (Scalar, Array)):
                    self._collect(t.dtype)

    def _collect(self, dtype: DType) -> None:
        """Collect a type; the types of fields precede a struct."""
        if dtype.handle is not None:
            self.handle_types[dtype.handle.access] = None
        if dtype.is_half:
            self.halves[dtype] = None
        if dtype.is_complex or dtype.is_vector:
            self._collect(dtype.fields[0].dtype)
            self.vectors[dtype] = None
        if dtype.kind is not DTypeKind.RECORD or dtype in self.names:
            return
        for field in dtype.fields:
            innermost = field.dtype.innermost
            self._collect(innermost)
            if self._needs_unaligned_type(dtype, innermost):
                self.unaligned[innermost] = None
        if self.dialect.name == "cuda" and _is_packed(dtype):
            self._collect_copied_fields(dtype)
        self.names[dtype] = unique_name(
            identifier(dtype.short), {*self.names.values()}, self.functions
        )

    def _collect_copied_fields(self, record: DType) -> None:
        """Collect the fields of a packed struct that need a type without alignment."""
        for field in record.fields:
            innermost = field.dtype.innermost
            if packed_structs.needs_copy(innermost):
                self._collect_copied_fields(innermost)
                self.packed_field_dtypes[innermost] = None

    def type_name(self, dtype: DType) -> str:
        """Return the C name of a dtype."""
        if dtype.kind is DTypeKind.RECORD:
            return self._struct_name(self.names[dtype])
        return self.dialect.type_name(dtype)

    @property
    def type_names(self) -> set[str]:
        """Return the names that variables would hide: those of structs in C++."""
        return {*self.names.values()} if self.dialect.name == "cuda" else set()

    def _struct_name(self, name: str) -> str:
        """Return the type of a struct; C++ needs no keyword."""
        return name if self.dialect.name == "cuda" else f"struct {name}"

    def headers(self) -> list[c.Item]:
        """Return the headers of CUDA's half types."""
        in_cuda = self.dialect.name == "cuda"
        return [c.Include(half_types.HEADERS[d]) for d in self.halves] if in_cuda else []

    def definitions(self) -> list[c.Item]:
        """Return the definitions; a struct follows the structs of its fields."""
        items: list[c.Item] = [c.Verbatim(text) for text in self._type_definitions() if text]
        others = (dtype for dtype in self.packed_field_dtypes if dtype not in self.names)
        # two dtypes with one C type (complex64 is float2 in CUDA C) get one definition
        by_name = {self.type_name(dtype): dtype for dtype in others}
        items += [item for dtype in by_name.values() for item in self._packed_definitions(dtype)]
        for dtype, name in self.names.items():
            items.append(self._struct(dtype, name, _is_packed(dtype)))
            items += self._packed_definitions(dtype) if dtype in self.packed_field_dtypes else []
        return items

    def _type_definitions(self) -> Iterator[str]:
        """Yield the definitions of the types that the target does not declare."""
        if self.dialect.name == "c":
            yield from map(half_types.definition, self.halves)
            yield from map(definition, self.vectors)
            yield from map(_unaligned_definition, self.unaligned)
            yield from map(c_definition, self.handle_types)
            yield from map(half_types.constant_definition, dict.fromkeys(self.half_constants))
            return
        aliases = [
            _aliases_before_cuda_13(d) for d in self.vectors if d.bits == 256 and d.is_vector
        ]
        if aliases:
            yield f"#if __CUDACC_VER_MAJOR__ < 13\n{''.join(aliases)}#endif\n"

    def _packed_definitions(self, dtype: DType) -> list[c.Item]:
        """Return the type without alignment, and the conversions."""
        name = self.type_name(dtype)
        text = c.Verbatim(packed_structs.conversions(dtype, name))
        if dtype.is_half:
            return [text]
        return [self._struct(dtype, self._packed_name(dtype), packed=True), text]

    def _packed_name(self, dtype: DType) -> str:
        return packed_structs.packed_name(self.names.get(dtype, self.type_name(dtype)))

    def construct(self, dtype: DType, parts: tuple[c.Expr, ...]) -> c.Expr:
        """Return the expression that constructs a value from its fields."""
        in_cuda = self.dialect.name == "cuda"
        if dtype.element is not None:  # a field that is an array, inside a record
            return c.CompoundLiteral("", parts)
        if dtype.kind is not DTypeKind.RECORD and in_cuda:
            return c.CallExpr(f"make_{dtype.cuda.removeprefix('__nv_')}", parts)
        name = self.names.get(dtype, "")
        pairs = zip(dtype.fields, parts, strict=True)
        parts = tuple(self.store_field([dtype], field.dtype, part) for field, part in pairs)
        return c.CompoundLiteral(name if in_cuda else f"({self.type_name(dtype)})", parts)

    @property
    def uses_packed_structs(self) -> bool:
        """Return whether some structs of CUDA C are packed."""
        return self.dialect.name == "cuda" and any(map(_is_packed, self.names))

    def is_packed(self, dtype: DType, owner_packed: bool) -> bool:
        """Return whether the numbers of a field are in a packed struct; of ``dtype``, or around."""
        if dtype.kind is not DTypeKind.RECORD:
            return owner_packed
        is_copied = self.dialect.name == "cuda" and owner_packed and dtype.alignment > 1
        return is_copied or _is_packed(dtype)

    def initializer(self, dtype: DType, parts: tuple[c.Expr, ...], packed: bool) -> c.Expr:
        """Return the initializer of a record, vector, complex number or array in a constant."""
        if dtype.kind is not DTypeKind.RECORD:
            return c.CompoundLiteral("", parts)
        part_of_field = dict(zip(dtype.fields, parts, strict=True))
        zeros = c.CompoundLiteral("", (c.Number("0"),))
        listed = _members_of(dtype, packed)
        values = (zeros if isinstance(m, int) else part_of_field[m] for m in listed)
        return c.CompoundLiteral("", tuple(values))

    def load_field(self, record: DType, dtype: DType, lvalue: c.Expr) -> c.Expr:
        """Return the value of a field, or of an element of a field."""
        is_copied = dtype in self.packed_field_dtypes and _is_packed(record)
        return c.CallExpr("aligned", (lvalue,)) if is_copied else lvalue

    def store_field(self, records: Sequence[DType], dtype: DType, value: c.Expr) -> c.Expr:
        """Return what is stored in a field; ``records`` are the records that contain it."""
        is_copied = dtype in self.packed_field_dtypes and any(map(_is_packed, records))
        return c.CallExpr("packed", (value,)) if is_copied else value

    def _needs_unaligned_type(self, record: DType, field: DType) -> bool:
        """Return whether gcc would assume an alignment that the field of a struct may lack."""
        gcc_aligns = self.dialect.name == "c" and (field.is_vector or field.is_complex)
        return gcc_aligns and _is_packed(record)

    def _struct(self, dtype: DType, name: str, packed: bool) -> c.Struct:
        fields: list[c.ParameterDecl] = []
        for member in _members_of(dtype, packed):
            if isinstance(member, int):
                fields.append(self._padding(member, len(fields)))
                continue
            c_type: c.CType = c.NamedType(self._field_type(dtype, member.dtype.innermost, packed))
            if member.dtype.extents:
                c_type = c.ArrayType(c_type, member.dtype.extents)
            fields.append(c.ParameterDecl(c_type, identifier(member.name)))
        return c.Struct(name, tuple(fields), packed)

    def _field_type(self, record: DType, dtype: DType, packed: bool) -> str:
        if packed and dtype in self.packed_field_dtypes:
            return self._struct_name(self._packed_name(dtype))
        needs_unaligned = self._needs_unaligned_type(record, dtype)
        return _unaligned_name(dtype) if needs_unaligned else self.type_name(dtype)

    def _padding(self, size: int, number: int) -> c.ParameterDecl:
        byte = c.NamedType(self.dialect.type_name(UINT8))
        return c.ParameterDecl(c.ArrayType(byte, (size,)), f"unused{number}")


def members(record: DType, alignment: Callable[[DType], int]) -> Iterator[RecordField | int]:
    """Yield the members of a struct: fields by offset, and the sizes of explicit padding.

    alignment: of a type in the struct.
    """
    end = 0
    for field in sorted(record.fields, key=lambda f: f.offset):
        multiple = alignment(field.dtype)
        if -(-end // multiple) * multiple < field.offset:
            yield field.offset - end
        yield field
        end = field.offset + field.dtype.size
    multiple = alignment(record)
    if -(-end // multiple) * multiple < record.size:
        yield record.size - end


def _members_of(record: DType, packed: bool) -> Iterator[RecordField | int]:
    return members(record, lambda dtype: 1 if packed else dtype.alignment)


def _is_packed(record: DType) -> bool:
    """Return whether the struct is packed: alignment 1, although the type of a field has more."""
    return record.alignment == 1 and any(f.dtype.alignment > 1 for f in record.fields)


def _components(dtype: DType) -> Iterator[DType]:
    """Yield the types of the numbers in an element."""
    innermost = dtype.innermost
    if not innermost.fields:
        yield innermost
    for field in innermost.fields:
        yield from _components(field.dtype)


def _types_in(function: ir.Function) -> Iterator[Type]:
    """Yield the types in a function."""
    yield function.result
    for p in function.parameters:
        yield p.type
    for s in statements(function.body):
        if isinstance(s, (ir.Allocate, ir.Assign, ir.Declare)):
            yield s.var.type
    for e in all_expressions(function.body):
        yield e.type
