"""Helpers that access a whole vector in CUDA C, as ``ops/intrinsics/memory/vector_access``."""

from __future__ import annotations

from string import Template

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, DType
from pycu2c.codegen.helpers.templates import Helper, c_definition, helpers_of

_TEMPLATES = helpers_of(c_definition("c/vectors"), "fixed")
# the CUDA compiler knows the alignment of shared arrays by their own addresses only
_ADDRESSES = {True: "__cvta_generic_to_shared(place)", False: "(unsigned long long)place"}
_MAX_ALIGNMENT = 16  # bytes
_ATOMIC_ARCHS = {FLOAT16: 600, BFLOAT16: 800}  # the first with atomicAdd; float32: 900


def _text(name: str, dtype: DType, _: str) -> str:
    """Return the template of a helper for a vector type."""
    component, names = dtype.fields[0].dtype, [field.name for field in dtype.fields]
    text = Template(_TEMPLATES[name.replace("_shared", "")].fixed).safe_substitute(
        address=_ADDRESSES["_shared" in name],
        E=component.cuda,
        make=f"make_{dtype.cuda.removeprefix('__nv_')}",
        alignment=min(dtype.size, _MAX_ALIGNMENT),
        arch=_ATOMIC_ARCHS.get(component, 900),
        loads=", ".join(f"place[{n}]" for n in range(len(names))),
        stores="\n".join(f"        place[{n}] = value.{x};" for n, x in enumerate(names)),
        element_additions="\n".join(
            f"    old.{x} = atomicAdd(&place[{n}], value.{x});" for n, x in enumerate(names)
        ),
        additions="\n".join(f"    old.{x} = atomicAdd(&place->{x}, value.{x});" for x in names),
    )
    return text.replace("load_vector", name).replace("store_vector", name)


VECTOR_HELPERS = dict.fromkeys(
    (*_TEMPLATES, "load_shared_vector", "store_shared_vector"), Helper(generate=_text)
)
