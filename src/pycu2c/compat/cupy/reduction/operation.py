"""Complete the user's expressions of a reduction."""

from __future__ import annotations

import re

from pycu2c.base import dtypes
from pycu2c.compat.cupy.call_arguments import KernelDeclaration
from pycu2c.compat.cupy.parameter_declarations import c_name, is_kernel_name, require_c_text
from pycu2c.compat.cupy.reduction.source_parts import UserSource

_NUMBER = re.compile(r"[-+]?(\d|\.\d)[\w.+-]*")


def user_source(
    declaration: KernelDeclaration,
    expressions: tuple[str, str, object],
    identity: object,
    reduce_type: str | None,
    preamble: str,
) -> UserSource:
    """Return the texts of a kernel. ``expressions``: map_expr, reduce_expr, post_map_expr.

    An example in CuPy's documentation omits post_map_expr, so the identity is passed as
    post_map_expr, and the name as identity. If post_map_expr is a number and identity is a name,
    they are used as the identity and the name.
    """
    map_expr, reduce_expr, post_map = expressions
    require_c_text(map_expr=map_expr, reduce_expr=reduce_expr, post_map_expr=post_map)
    name, output = declaration.name, declaration.outputs[0]
    if _NUMBER.fullmatch(str(post_map).strip()) and is_kernel_name(identity):
        identity, post_map, name = post_map, "", str(identity)
    return UserSource(
        name,
        map_expr,
        reduce_expr,
        str(post_map) if str(post_map).strip() else f"{output.name} = a",
        "" if identity is None else str(identity),
        _c_type(reduce_type or output.ctype),
        preamble,
    )


def _c_type(name: str) -> str:
    """Return a C type name; numpy's dtype names are accepted."""
    dtype = dtypes.BY_NAME.get(name)
    return c_name(dtype) if dtype and not dtype.is_vector else name
