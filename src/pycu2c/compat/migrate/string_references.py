"""What of numba a program names in strings and attributes: modules, environment variables, methods
of kernels."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pycu2c.base.diagnostics import Label
from pycu2c.compat.migrate import remarks
from pycu2c.compat.migrate.remarks import Remark
from pycu2c.compat.migrate.text_edits import Text

_LEAVE_OUT = "leave it out: "
_POOL = "memory comes from the driver's pool, and goes back in the order of streams"
VARIABLES: dict[str, str] = {
    "NUMBA_ENABLE_CUDASIM": "PYCU2C_BACKEND=cpu runs kernels on the CPU, compiled; "
    "PYCU2C_BACKEND=python interprets them and looks at every index",
    "NUMBA_DISABLE_CUDA": "PYCU2C_BACKEND=cpu leaves GPUs alone",
    "NUMBA_BOUNDSCHECK": "PYCU2C_BACKEND=python looks at every index of a kernel",
    "NUMBA_DISABLE_JIT": "PYCU2C_BACKEND=python interprets kernels; njit still reads it",
    "NUMBA_NUM_THREADS": "PYCU2C_THREADS for kernels on the CPU; njit still reads it",
    "NUMBA_CACHE_DIR": "PYCU2C_CACHE_DIR for kernels; njit still reads it",
    "NUMBA_CUDA_DEBUGINFO": "PYCU2C_LINEINFO=1 tells tools the lines of Python",
    "NUMBA_FORCE_CUDA_CC": _LEAVE_OUT + "kernels are compiled for the GPU that runs them",
    "NUMBA_CUDA_DEFAULT_PTX_CC": "cuda.compile_ptx(f, signature, cc=(9, 0))",
    "NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM": "launch in cuda.per_thread_default_stream()",
    "NUMBA_CUDA_ARRAY_INTERFACE_SYNC": "cuda.as_cuda_array(array, sync=False)",
    "NUMBA_CUDA_MEMORY_MANAGER": _LEAVE_OUT + _POOL,
    "NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT": _LEAVE_OUT + _POOL,
    "NUMBA_CUDA_MAX_PENDING_DEALLOCS_RATIO": _LEAVE_OUT + _POOL,
    "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": _LEAVE_OUT + "small grids are no warning",
    "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY": _LEAVE_OUT + "copies of host arrays are no warning",
    "NUMBA_CUDA_USE_NVIDIA_BINDING": _LEAVE_OUT + "the bindings are NVIDIA's",
    "NUMBA_CUDA_DRIVER": _LEAVE_OUT + "`pycu2c doctor` says which driver was found",
    "NUMBA_CUDA_INCLUDE_PATH": _LEAVE_OUT + "NVRTC brings CUDA's headers",
    "NUMBA_CUDA_LOG_LEVEL": _LEAVE_OUT + "nothing is logged",
    "NUMBA_DUMP_ASSEMBLY": "print kernel.inspect('ptx')",
}
"""Environment variables of numba's that programs for CUDA set, and what to write instead."""

METHODS: dict[str, str] = {
    "inspect_llvm": "kernel.inspect('cuda') shows the CUDA C, kernel.inspect('ir') the typed tree",
}
"""Methods of numba's kernels that give nothing here."""

_NAMING = ("importorskip", "import_module", "find_spec", "__import__")
_MODULE = re.compile(r"numba\.cuda(\.\w+)*|numba_cuda")


def words_in(text: Text, tree: ast.Module) -> Iterator[Remark]:
    """A remark for each."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(word)) if word in VARIABLES:
                yield _remark(text, node, remarks.VARIABLE, VARIABLES[word], word)
            case ast.Constant(value=str(word)) if _MODULE.fullmatch(word):
                yield _remark(text, node, remarks.TEXT, _here(word), "")
            case ast.Call(func=called, args=[ast.Constant(value="numba") as word, *_]):
                if ast.unparse(called).split(".")[-1] in _NAMING:
                    yield _remark(text, word, remarks.TEXT, _here("numba"), "")
            case ast.Attribute(attr=name) if name in METHODS:
                yield _remark(text, node, remarks.METHOD, METHODS[name], name)
            case _:
                pass


def _here(word: str) -> str:
    path = word.replace("numba_cuda", "numba").replace("numba", "pycu2c")
    return f"write {path!r}, if the module is meant that kernels are imported from"


def _remark(text: Text, node: ast.expr, kind: remarks.Kind, hint: str, topic: str) -> Remark:
    return Remark(kind, (Label(text.span(node)),), hint, topic)
