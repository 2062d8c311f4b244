"""Rewrite texture references in CUDA C: ``texture<float, 2, cudaReadModeElementType> name;``.

CUDA 12 has removed them. A class template of that name contains a texture object and describes the
declaration. Declarations become variables in constant memory, and overloads of CUDA's functions
accept the class. Fetches are not rewritten, so they may also be in macros.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parse.tokens import Token, tokens_of

# members in memory order
LAYOUT = np.dtype(
    [
        ("object", np.uint64),
        ("format", np.int32),
        ("channels", np.int32),
        ("axes", np.int32),
        ("normalized", np.int32),
    ]
)


@dataclass(frozen=True, slots=True)
class RewrittenSource:
    """A rewritten text, and the names of its texture references."""

    text: str
    textures: tuple[str, ...]
    surfaces: tuple[str, ...]


_REFERENCE_KINDS = ("texture", "surface")


def rewrite_references(text: str) -> RewrittenSource:
    """Return the text with references as variables in constant memory. Lines are unchanged."""
    names: dict[str, list[str]] = {kind: [] for kind in _REFERENCE_KINDS}
    if not any(kind in text for kind in _REFERENCE_KINDS):
        return RewrittenSource(text, (), ())
    tokens = tokens_of(text)
    types: dict[str, str] = {}  # typedefs of reference types -> texture or surface
    edits: list[tuple[int, int, str]] = []
    for start, end in _statements(tokens):
        texts = [t.text for t in tokens[start:end]]
        kind = _declared_kind(texts, types)
        if kind is None:
            continue
        if texts[0] in ("typedef", "using"):
            types[texts[-1] if texts[0] == "typedef" else texts[1]] = kind
            continue
        names[kind] += _declared_names(tokens[start:end], texts)
        edits.append((tokens[start].start, tokens[start].start, "__constant__ "))
        edits += [
            (t.start, t.end, " " * len(t.text)) for t in tokens[start:end] if t.text == "static"
        ]
    return RewrittenSource(
        _apply_edits(text, edits), tuple(names["texture"]), tuple(names["surface"])
    )


def _declared_kind(texts: Sequence[str], types: dict[str, str]) -> str | None:
    """Return the kind of reference that a statement declares, also as a typedef; None if none."""
    rest = [text for text in texts if text not in ("static", "typedef")]
    if rest[:1] == ["using"]:
        rest = rest[3:]
    if not rest or "(" in texts:
        return None
    if rest[0] in _REFERENCE_KINDS and rest[1:2] == ["<"]:
        return rest[0]
    return types.get(rest[0])


def _statements(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Return the ranges of declarations outside of functions, up to their semicolons."""
    start = 0
    in_body: list[bool] = []  # for each open brace: whether it belongs to a function or class
    for index, token in enumerate(tokens):
        if token.text == ";" and index > start and not any(in_body):
            yield start, index
        if token.text == "{":
            texts = [t.text for t in tokens[start:index]]
            in_body.append("namespace" not in texts and texts[:1] != ["extern"])
        elif token.text == "}" and in_body:
            in_body.pop()
        if token.kind == "directive" or token.text in ("{", "}", ";"):
            start = index + 1


def _declared_names(tokens: Sequence[Token], texts: Sequence[str]) -> list[str]:
    """Return the variables of a declaration: the comma-separated names after the type."""
    if "<" in texts:
        end_of_type = len(texts) - 1 - texts[::-1].index(">")
    else:  # the type is a typedef
        end_of_type = next(i for i, text in enumerate(texts) if text != "static")
    return [t.text for t in tokens[end_of_type + 1 :] if t.kind == "identifier"]


def _apply_edits(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Replace ranges of a text; ``edits`` are the start, end and new text of each range."""
    parts, position = [], 0
    for start, end, replacement in sorted(edits):
        parts += [text[position:start], replacement]
        position = end
    return "".join([*parts, text[position:]])


def unpack_declaration(memory: Any) -> tuple[int, int, int, bool]:
    """Return format, channels, axes and whether values are normalized, from the memory of a
    reference."""
    (record,) = np.frombuffer(memory, LAYOUT)
    format, channels, axes = (int(record[name]) for name in ("format", "channels", "axes"))
    return format, channels, axes, bool(record["normalized"])


# ---- preamble ----------------------------------------------------------------------------------

# component type: (array_format, prefix of its vector types, whether it is read as a fraction)
_COMPONENT_TYPES = {
    "unsigned char": (1, "uchar", True),
    "signed char": (8, "", True),
    "char": (8, "char", True),
    "unsigned short": (2, "ushort", True),
    "short": (9, "short", True),
    "unsigned int": (3, "uint", False),
    "int": (10, "int", False),
    "float": (32, "float", False),
}
_VECTOR_LENGTHS = (1, 2, 4)


def _texel_specializations() -> Iterator[str]:
    """Yield the specializations of ``texel``, which describe each element type of a texture."""
    for name, (format, vector, has_fraction) in _COMPONENT_TYPES.items():
        elements = [(name, 1), *((f"{vector}{n}", n) for n in _VECTOR_LENGTHS if vector)]
        for element, channels in elements:
            as_float = "float" if element == name else f"float{channels}"
            fraction = as_float if has_fraction else element
            yield (
                f"template <> struct texel<{element}> {{ enum {{ format = {format}, "
                f"channels = {channels} }}; typedef {fraction} fraction; }};"
            )


# CUDA's function, and the parameters after the texture
_FETCHES = {
    "tex1Dfetch": "int x",
    "tex1D": "float x",
    "tex2D": "float x, float y",
    "tex3D": "float x, float y, float z",
    "tex1DLayered": "float x, int layer",
    "tex2DLayered": "float x, float y, int layer",
}


def _fetch_overload(name: str, parameters: str) -> str:
    arguments = ", ".join(part.split()[-1] for part in parameters.split(", "))
    return f"""template <class T, int axes, cudaTextureReadMode mode>
static __device__ __forceinline__ typename pycu2c_textures::read<T, mode>::type
{name}(const texture<T, axes, mode> &t, {parameters}) {{
    return {name}<typename pycu2c_textures::read<T, mode>::type>(t.object, {arguments});
}}"""


_SURFACE_FUNCTIONS = {
    "surf1D": "int x",
    "surf2D": "int x, int y",
    "surf3D": "int x, int y, int z",
    "surf2DLayered": "int x, int y, int layer",
}


def _surface_overloads(name: str, parameters: str) -> str:
    arguments = ", ".join(part.split()[-1] for part in parameters.split(", "))
    mode = "cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap"
    return f"""template <class T, int axes, class V>
static __device__ __forceinline__ void
{name}write(V value, const surface<T, axes> &s, {parameters}, {mode}) {{
    {name}write<V>(value, s.object, {arguments}, mode);
}}
template <class T, int axes, class V>
static __device__ __forceinline__ void
{name}read(V *value, const surface<T, axes> &s, {parameters}, {mode}) {{
    *value = {name}read<V>(s.object, {arguments}, mode);
}}
template <class V, class T, int axes>
static __device__ __forceinline__ V
{name}read(const surface<T, axes> &s, {parameters}, {mode}) {{
    return {name}read<V>(s.object, {arguments}, mode);
}}"""


_TEXTURE_TEMPLATE = """namespace pycu2c_textures {{
template <class T> struct texel;
{texels}
template <class T, cudaTextureReadMode mode> struct read {{ typedef T type; }};
template <class T> struct read<T, cudaReadModeNormalizedFloat> {{
    typedef typename texel<T>::fraction type;
}};
}}
template <class T, int dim = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture {{
    cudaTextureObject_t object = 0;
    int format = pycu2c_textures::texel<T>::format;
    int channels = pycu2c_textures::texel<T>::channels;
    int axes = dim, normalized = mode == cudaReadModeNormalizedFloat;
}};
{fetches}
"""
_SURFACE_TEMPLATE = """template <class T, int dim = 1> struct surface {{
    cudaSurfaceObject_t object = 0;
    int format = 0, channels = 0, axes = dim, normalized = 0;
}};
{functions}
"""


def texture_declarations() -> str:
    """Return the class of texture references, and the functions that read them."""
    fetches = "\n".join(_fetch_overload(*item) for item in _FETCHES.items())
    return _TEXTURE_TEMPLATE.format(texels="\n".join(_texel_specializations()), fetches=fetches)


def surface_declarations() -> str:
    """Return the class of surface references, and its functions."""
    return _SURFACE_TEMPLATE.format(
        functions="\n".join(_surface_overloads(*item) for item in _SURFACE_FUNCTIONS.items())
    )
