"""Declare CUDA's texture and surface functions in C++ over the texture helpers of ``@kernel``.

A texture object is the address of its struct (``codegen/helpers/texture_helpers.py``). The null
object reads as 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.codegen.helpers.texture_helpers import definition

WORDS = frozenset(
    ("cudaTextureObject_t", "cudaSurfaceObject_t")
)  # identifiers that need these declarations

_NUMBERS = {
    "char": "char",
    "signed char": "",
    "unsigned char": "uchar",
    "short": "short",
    "unsigned short": "ushort",
    "int": "int",
    "unsigned int": "uint",
    "float": "float",
}
_TOP = """
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2

"""
_FETCHES = """
static inline texture texture_of(unsigned long long object) {
    return reinterpret_cast<texture>(object);
}

// The nearest layer of a layered texture, whose last axis counts layers.
static inline texture_data layer_of(texture t, int layer) {
    texture_data one = *t;
    const int last = (int)t->extents[t->axes - 1] - 1;
    const int at = layer < 0 ? 0 : layer > last ? last : layer;
    int64_t elements = 1;
    for (int axis = 0; axis < t->axes - 1; axis++) elements *= t->extents[axis];
    const int64_t size = elements * t->channels * (t->format & 15);
    one.elements = static_cast<const char *>(t->elements) + at * size;
    one.extents[t->axes - 1] = 1;
    one.axes = t->axes - 1;
    return one;
}

template <class T> static inline T fetched(texture t, float x, float y = 0, float z = 0) {
    const float at[3] = {x, y, z};
    double numbers[4] = {};
    if (t) texture_fetch(t, at, numbers);
    return element<T>::of(numbers);
}

template <class T> static inline T fetched_at(texture t, int64_t i) {
    double numbers[4] = {};
    if (t && i >= 0 && i < t->extents[0]) {
        for (int channel = 0; channel < t->channels; channel++) {
            const double number = texture_number(t, i, channel);
            numbers[channel] = t->most == 0 ? number : fmax(number / t->most, -1);
        }
    }
    return element<T>::of(numbers);
}

// The address of a surface element, x in bytes; nullptr outside.
template <class T> static inline T *place_in(
    unsigned long long object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    const auto s = reinterpret_cast<surface>(object);
    if (!s) return nullptr;
    int64_t at[3] = {x / (int64_t)sizeof(T), y, z};
    for (int axis = 0; axis < 3; axis++) {
        const int64_t last = s->extents[axis] - 1;
        if (mode != cudaBoundaryModeClamp) continue;
        at[axis] = at[axis] < 0 ? 0 : at[axis] > last ? last : at[axis];
    }
    const int64_t found = surface_element(s, at[0], at[1], at[2]);
    return found < 0 ? nullptr : static_cast<T *>(s->elements) + found;
}
} // namespace pycu2c_texels
"""
_READS = {
    "tex1D": ("float x", "fetched<T>(t, x)"),
    "tex2D": ("float x, float y", "fetched<T>(t, x, y)"),
    "tex3D": ("float x, float y, float z", "fetched<T>(t, x, y, z)"),
    "tex1Dfetch": ("int x", "fetched_at<T>(t, x)"),
}
_LAYERED = {
    "tex1DLayered": ("float x, int layer", "fetched<T>(&one, x)"),
    "tex2DLayered": ("float x, float y, int layer", "fetched<T>(&one, x, y)"),
}
_SURFACES = {
    "surf1D": ("int x", "x, 0, 0"),
    "surf2D": ("int x, int y", "x, y, 0"),
    "surf3D": ("int x, int y, int z", "x, y, z"),
    "surf2DLayered": ("int x, int y, int layer", "x, y, layer"),
}


def declarations() -> str:
    """Return the C++ that precedes a text with texture or surface objects."""
    parts = [
        _TOP,
        "namespace pycu2c_texels {\n",
        definition("texture"),
        definition("surface"),
        "template <class T> struct element;\n",
        *_elements(),
        _FETCHES,
        *(_read(name, *row) for name, row in _READS.items()),
        *(_layered(name, *row) for name, row in _LAYERED.items()),
        *(_surface(name, *row) for name, row in _SURFACES.items()),
    ]
    return "".join(parts)


def _elements() -> Iterator[str]:
    """Yield specializations that convert texture channels to element types."""
    for name, vector in _NUMBERS.items():
        yield (
            f"template <> struct element<{name}> {{\n"
            f"    static {name} of(const double *n) {{ return ({name})n[0]; }}\n}};\n"
        )
        for count in (1, 2, 4) if vector else ():
            fields = "".join(
                f" v.{field} = ({name})n[{i}];" for i, field in enumerate("xyzw"[:count])
            )
            yield (
                f"template <> struct element<{vector}{count}> {{\n"
                f"    static {vector}{count} of(const double *n) {{ {vector}{count} v;{fields} "
                "return v; }\n};\n"
            )


def _read(name: str, given: str, value: str) -> str:
    return f"""template <class T> static inline T {name}(cudaTextureObject_t object, {given}) {{
    using namespace pycu2c_texels;
    const auto t = texture_of(object);
    return {value};
}}
template <class T> static inline void {name}(T *value, cudaTextureObject_t object, {given}) {{
    *value = {name}<T>(object, {", ".join(part.split()[-1] for part in given.split(", "))});
}}
"""


def _layered(name: str, given: str, value: str) -> str:
    return f"""template <class T> static inline T {name}(cudaTextureObject_t object, {given}) {{
    using namespace pycu2c_texels;
    const auto t = texture_of(object);
    if (!t) return fetched<T>(t, 0);
    const texture_data one = layer_of(t, layer);
    return {value};
}}
"""


def _surface(name: str, given: str, place: str) -> str:
    mode = "cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap"
    found = f"pycu2c_texels::place_in<T>(object, {place}, mode)"
    names = ", ".join(part.split()[-1] for part in given.split(", "))
    return f"""template <class T> static inline T
{name}read(cudaSurfaceObject_t object, {given}, {mode}) {{
    const T *const place = {found};
    return place ? *place : T();
}}
template <class T> static inline void
{name}read(T *value, cudaSurfaceObject_t object, {given}, {mode}) {{
    *value = {name}read<T>(object, {names}, mode);
}}
template <class T> static inline void
{name}write(T value, cudaSurfaceObject_t object, {given}, {mode}) {{
    T *const place = {found};
    if (place) *place = value;
}}
"""
