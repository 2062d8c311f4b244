/* CUDA's texture and surface functions, over the texture helpers of @kernel.
 * A texture object is the address of its struct. The null object reads as 0. */

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

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
    const float coordinates[3] = {x, y, z};
    double values[4] = {};
    if (t) texture_fetch(t, coordinates, values);
    return element<T>::of(values);
}

template <class T> static inline T fetch_element(texture t, int64_t i) {
    double values[4] = {};
    if (t && i >= 0 && i < t->extents[0]) {
        for (int channel = 0; channel < t->channels; channel++) {
            const double value = texture_channel(t, i, channel);
            values[channel] = t->max_value == 0 ? value : fmax(value / t->max_value, -1);
        }
    }
    return element<T>::of(values);
}

/* The address of a surface element, x in bytes; nullptr outside. */
template <class T> static inline T *surface_address(
    cudaSurfaceObject_t object, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    const auto s = reinterpret_cast<surface>(object);
    if (!s) return nullptr;
    int64_t indices[3] = {x / (int64_t)sizeof(T), y, z};
    for (int axis = 0; axis < 3; axis++) {
        const int64_t last = s->extents[axis] - 1;
        if (mode != cudaBoundaryModeClamp) continue;
        indices[axis] = indices[axis] < 0 ? 0 : indices[axis] > last ? last : indices[axis];
    }
    const int64_t index = surface_element(s, indices[0], indices[1], indices[2]);
    return index < 0 ? nullptr : static_cast<T *>(s->elements) + index;
}

} // namespace pycu2c_texels

/* A function, and its overload that stores the value. */
#define PYCU2C_FETCH(name, value, ...)                                                            \
    template <class T> static inline T name(cudaTextureObject_t object, __VA_ARGS__) {            \
        using namespace pycu2c_texels;                                                            \
        const auto t = texture_of(object);                                                        \
        return value;                                                                             \
    }                                                                                             \
    template <class T, class... Coordinates> static inline void name(                             \
        T *result, cudaTextureObject_t object, Coordinates... coordinates) {                      \
        *result = name<T>(object, coordinates...);                                                \
    }
PYCU2C_FETCH(tex1D, (fetch<T>(t, x)), float x)
PYCU2C_FETCH(tex2D, (fetch<T>(t, x, y)), float x, float y)
PYCU2C_FETCH(tex3D, (fetch<T>(t, x, y, z)), float x, float y, float z)
PYCU2C_FETCH(tex1Dfetch, (fetch_element<T>(t, x)), int x)
#undef PYCU2C_FETCH

#define PYCU2C_SURFACE(name, x, y, z, ...)                                                        \
    template <class T> static inline T name##read(                                                \
        cudaSurfaceObject_t object, __VA_ARGS__,                                                  \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                    \
        const T *const address = pycu2c_texels::surface_address<T>(object, x, y, z, mode);        \
        return address ? *address : T();                                                          \
    }                                                                                             \
    template <class T, class... Indices> static inline void name##read(                           \
        T *value, cudaSurfaceObject_t object, Indices... indices) {                               \
        *value = name##read<T>(object, indices...);                                               \
    }                                                                                             \
    template <class T> static inline void name##write(                                            \
        T value, cudaSurfaceObject_t object, __VA_ARGS__,                                         \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                    \
        T *const address = pycu2c_texels::surface_address<T>(object, x, y, z, mode);              \
        if (address) *address = value;                                                            \
    }
PYCU2C_SURFACE(surf1D, a, 0, 0, int a)
PYCU2C_SURFACE(surf2D, a, b, 0, int a, int b)
PYCU2C_SURFACE(surf3D, a, b, c, int a, int b, int c)
#undef PYCU2C_SURFACE
