/* CUDA's texture and surface functions, over the texture helpers of @kernel.
 * A texture object is the address of its struct. The null object reads as 0. */

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

namespace pycu2c_texels {

/* The conversion of texture channels to the type of an element. */
template <class T> struct element;
#define PYCU2C_ELEMENT(type, ...)                                                                 \
    template <> struct element<type> {                                                            \
        static type of(const double *n) { return __VA_ARGS__; }                                   \
    };
#define PYCU2C_ELEMENTS(type, vector)                                                             \
    PYCU2C_ELEMENT(type, (type)n[0])                                                              \
    PYCU2C_ELEMENT(vector##1, make_##vector##1((type)n[0]))                                       \
    PYCU2C_ELEMENT(vector##2, make_##vector##2((type)n[0], (type)n[1]))                           \
    PYCU2C_ELEMENT(vector##4,                                                                     \
                   make_##vector##4((type)n[0], (type)n[1], (type)n[2], (type)n[3]))
PYCU2C_ELEMENT(signed char, (signed char)n[0])
PYCU2C_ELEMENTS(char, char)
PYCU2C_ELEMENTS(unsigned char, uchar)
PYCU2C_ELEMENTS(short, short)
PYCU2C_ELEMENTS(unsigned short, ushort)
PYCU2C_ELEMENTS(int, int)
PYCU2C_ELEMENTS(unsigned int, uint)
PYCU2C_ELEMENTS(float, float)
#undef PYCU2C_ELEMENTS
#undef PYCU2C_ELEMENT

static inline texture texture_of(cudaTextureObject_t object) {
    return reinterpret_cast<texture>(object);
}

template <class T> static inline T fetch(texture t, float x, float y = 0, float z = 0) {
    const float at[3] = {x, y, z};
    double numbers[4] = {};
    if (t) texture_fetch(t, at, numbers);
    return element<T>::of(numbers);
}

template <class T> static inline T fetch_element(texture t, int64_t i) {
    double numbers[4] = {};
    if (t && i >= 0 && i < t->extents[0]) {
        for (int channel = 0; channel < t->channels; channel++) {
            const double number = texture_number(t, i, channel);
            numbers[channel] = t->most == 0 ? number : fmax(number / t->most, -1);
        }
    }
    return element<T>::of(numbers);
}

/* Fetches from the nearest layer of a layered texture, whose last axis counts layers. */
template <class T> static inline T fetch_layer(texture t, int layer, float x, float y = 0) {
    if (!t) return fetch<T>(t, 0);
    texture_data one = *t;
    const int last = (int)t->extents[t->axes - 1] - 1;
    const int at = layer < 0 ? 0 : layer > last ? last : layer;
    int64_t elements = 1;
    for (int axis = 0; axis < t->axes - 1; axis++) elements *= t->extents[axis];
    const int64_t size = elements * t->channels * (t->format & 15);
    one.elements = static_cast<const char *>(t->elements) + at * size;
    one.extents[t->axes - 1] = 1;
    one.axes = t->axes - 1;
    return fetch<T>(&one, x, y);
}

/* The address of a surface element, x in bytes; nullptr outside. */
template <class T> static inline T *surface_address(
    cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
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

/* A function, and its overload that stores the value. */
#define PYCU2C_FETCH(name, value, ...)                                                            \
    template <class T> static inline T name(cudaTextureObject_t object, __VA_ARGS__) {            \
        using namespace pycu2c_texels;                                                            \
        const auto t = texture_of(object);                                                        \
        return value;                                                                             \
    }                                                                                             \
    template <class T, class... At> static inline void name(                                      \
        T *value_of, cudaTextureObject_t object, At... at) {                                      \
        *value_of = name<T>(object, at...);                                                       \
    }
PYCU2C_FETCH(tex1D, (fetch<T>(t, x)), float x)
PYCU2C_FETCH(tex2D, (fetch<T>(t, x, y)), float x, float y)
PYCU2C_FETCH(tex3D, (fetch<T>(t, x, y, z)), float x, float y, float z)
PYCU2C_FETCH(tex1Dfetch, (fetch_element<T>(t, x)), int x)
PYCU2C_FETCH(tex1DLayered, (fetch_layer<T>(t, layer, x)), float x, int layer)
PYCU2C_FETCH(tex2DLayered, (fetch_layer<T>(t, layer, x, y)), float x, float y, int layer)
#undef PYCU2C_FETCH

#define PYCU2C_SURFACE(name, x, y, z, ...)                                                        \
    template <class T> static inline T name##read(                                                \
        cudaSurfaceObject_t object, __VA_ARGS__,                                                  \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                    \
        const T *const place = pycu2c_texels::surface_address<T>(object, x, y, z, mode);          \
        return place ? *place : T();                                                              \
    }                                                                                             \
    template <class T, class... At> static inline void name##read(                                \
        T *value, cudaSurfaceObject_t object, At... at) {                                         \
        *value = name##read<T>(object, at...);                                                    \
    }                                                                                             \
    template <class T> static inline void name##write(                                            \
        T value, cudaSurfaceObject_t object, __VA_ARGS__,                                         \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                    \
        T *const place = pycu2c_texels::surface_address<T>(object, x, y, z, mode);                \
        if (place) *place = value;                                                                \
    }
PYCU2C_SURFACE(surf1D, a, 0, 0, int a)
PYCU2C_SURFACE(surf2D, a, b, 0, int a, int b)
PYCU2C_SURFACE(surf3D, a, b, c, int a, int b, int c)
PYCU2C_SURFACE(surf2DLayered, a, b, layer, int a, int b, int layer)
#undef PYCU2C_SURFACE
