"""Provide headers of the C standard library to NVRTC, which has none.

NVRTC predefines many of their declarations, so some headers are empty.
"""

from __future__ import annotations

import pathlib

from pycu2c.base.hashing import digest_of

_NAMES = ("float", "inttypes", "limits", "math", "stddef", "stdint")
_EMPTY_NAMES = ("assert", "stdio", "stdlib", "string", "time")
_EMPTY_HEADERS = (  # NVRTC predefines their declarations
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "vector_functions.h",
    "math_functions.h",
    "stdbool.h",
)


def _text(name: str) -> bytes:
    """Return the text of a header in the folder ``headers``, with an include guard."""
    text = ""
    if name in _NAMES:
        file = "stdint.h" if name == "inttypes" else f"{name}.h"
        text = (pathlib.Path(__file__).parent / "headers" / file).read_text(encoding="utf-8")
    guard = f"PYCU2C_{name.upper()}"
    return f"#ifndef {guard}\n#define {guard}\n{text}#endif\n".encode()


_TEXTS = {name: _text(name) for name in (*_NAMES, *_EMPTY_NAMES)}
HEADERS: dict[str, bytes] = {
    **{f"{name}.h": text for name, text in _TEXTS.items()},
    **{f"c{name}": text for name, text in _TEXTS.items()},
    **dict.fromkeys(_EMPTY_HEADERS, b""),
}
DIGEST = digest_of(*HEADERS.values())
