"""Find references to numba in strings and attributes: modules, environment variables, methods."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pycu2c.base.diagnostics import Label
from pycu2c.compat.migrate import remarks
from pycu2c.compat.migrate.name_map import NUMBA, PYCU2C, numba_path
from pycu2c.compat.migrate.remarks import Remark
from pycu2c.compat.migrate.text_edits import EditableText

ENVIRONMENT_VARIABLES: dict[str, str] = {
    "NUMBA_ENABLE_CUDASIM": "PYCU2C_BACKEND=cpu runs kernels on the CPU, compiled; "
    "PYCU2C_BACKEND=python interprets them and checks every index",
    "NUMBA_DISABLE_CUDA": "PYCU2C_BACKEND=cpu disables the use of GPUs",
    "NUMBA_BOUNDSCHECK": "PYCU2C_CHECK=memory checks every index of a kernel",
    "NUMBA_DISABLE_JIT": "PYCU2C_BACKEND=python interprets kernels; njit still reads it",
    "NUMBA_NUM_THREADS": "PYCU2C_THREADS for kernels on the CPU; njit still reads it",
    "NUMBA_CACHE_DIR": "PYCU2C_CACHE_DIR for kernels; njit still reads it",
    "NUMBA_CUDA_DEBUGINFO": "PYCU2C_LINEINFO=1 emits line information for tools",
    "NUMBA_CUDA_DEFAULT_PTX_CC": "cuda.compile_ptx(f, signature, cc=(9, 0))",
    "NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM": "launch in cuda.per_thread_default_stream()",
    "NUMBA_CUDA_ARRAY_INTERFACE_SYNC": "cuda.as_cuda_array(array, sync=False)",
    "NUMBA_DUMP_ASSEMBLY": "print kernel.inspect('ptx')",
}
"""Environment variables of numba that have a replacement; the others can stay."""

UNSUPPORTED_METHODS: dict[str, str] = {
    "inspect_llvm": "kernel.inspect('cuda') shows the CUDA C, kernel.inspect('ir') the typed IR",
}
"""Methods of numba's kernels that are not supported, and their replacements."""

_IMPORT_FUNCTIONS = ("importorskip", "import_module", "find_spec", "__import__")
_NUMBA_MODULE = re.compile(r"numba\.cuda(\.\w+)*|numba_cuda|numba_cuda_mlir(\.\w+)*")


def find_string_references(text: EditableText, tree: ast.Module) -> Iterator[Remark]:
    """Yield a remark for each reference."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(string)) if string in ENVIRONMENT_VARIABLES:
                yield _remark(
                    text, node, remarks.ENVIRONMENT, ENVIRONMENT_VARIABLES[string], string
                )
            case ast.Constant(value=str(string)) if _NUMBA_MODULE.fullmatch(string):
                yield _remark(text, node, remarks.TEXT, _rename_hint(string), "")
            case ast.Call(func=called, args=[ast.Constant(value="numba") as string, *_]):
                if ast.unparse(called).split(".")[-1] in _IMPORT_FUNCTIONS:
                    yield _remark(text, string, remarks.TEXT, _rename_hint("numba"), "")
            case ast.Attribute(attr=name) if name in UNSUPPORTED_METHODS:
                yield _remark(text, node, remarks.METHOD, UNSUPPORTED_METHODS[name], name)


def _rename_hint(string: str) -> str:
    path = PYCU2C + numba_path(string).removeprefix(NUMBA).removeprefix("_cuda")
    return f"write {path!r} if the string names the module that provides cuda"


def _remark(
    text: EditableText, node: ast.expr, kind: remarks.RemarkKind, hint: str, topic: str
) -> Remark:
    return Remark(kind, (Label(text.span(node)),), hint, topic)
