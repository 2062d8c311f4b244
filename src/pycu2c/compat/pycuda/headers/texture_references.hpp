// Texture references, which CUDA 12 has removed: a class with a texture object, and overloads.

// how the elements of a texture are stored and, as fractions, read
namespace pycu2c_textures {
template <int f, int c, class T> struct texel_of {
    enum { format = f, channels = c };
    typedef T fraction;
};
template <class T> struct texel;
template <> struct texel<unsigned char> : texel_of<1, 1, float> {};
template <> struct texel<uchar1> : texel_of<1, 1, float1> {};
template <> struct texel<uchar2> : texel_of<1, 2, float2> {};
template <> struct texel<uchar4> : texel_of<1, 4, float4> {};
template <> struct texel<signed char> : texel_of<8, 1, float> {};
template <> struct texel<char> : texel_of<8, 1, float> {};
template <> struct texel<char1> : texel_of<8, 1, float1> {};
template <> struct texel<char2> : texel_of<8, 2, float2> {};
template <> struct texel<char4> : texel_of<8, 4, float4> {};
template <> struct texel<unsigned short> : texel_of<2, 1, float> {};
template <> struct texel<ushort1> : texel_of<2, 1, float1> {};
template <> struct texel<ushort2> : texel_of<2, 2, float2> {};
template <> struct texel<ushort4> : texel_of<2, 4, float4> {};
template <> struct texel<short> : texel_of<9, 1, float> {};
template <> struct texel<short1> : texel_of<9, 1, float1> {};
template <> struct texel<short2> : texel_of<9, 2, float2> {};
template <> struct texel<short4> : texel_of<9, 4, float4> {};
template <> struct texel<unsigned int> : texel_of<3, 1, unsigned int> {};
template <> struct texel<uint1> : texel_of<3, 1, uint1> {};
template <> struct texel<uint2> : texel_of<3, 2, uint2> {};
template <> struct texel<uint4> : texel_of<3, 4, uint4> {};
template <> struct texel<int> : texel_of<10, 1, int> {};
template <> struct texel<int1> : texel_of<10, 1, int1> {};
template <> struct texel<int2> : texel_of<10, 2, int2> {};
template <> struct texel<int4> : texel_of<10, 4, int4> {};
template <> struct texel<float> : texel_of<32, 1, float> {};
template <> struct texel<float1> : texel_of<32, 1, float1> {};
template <> struct texel<float2> : texel_of<32, 2, float2> {};
template <> struct texel<float4> : texel_of<32, 4, float4> {};
template <class T, cudaTextureReadMode mode> struct read { typedef T type; };
template <class T> struct read<T, cudaReadModeNormalizedFloat> {
    typedef typename texel<T>::fraction type;
};
}
template <class T, int dim = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture {
    cudaTextureObject_t object = 0;
    int format = pycu2c_textures::texel<T>::format;
    int channels = pycu2c_textures::texel<T>::channels;
    int axes = dim, normalized = mode == cudaReadModeNormalizedFloat;
};
template <class T, int axes, cudaTextureReadMode mode>
static __device__ __forceinline__ typename pycu2c_textures::read<T, mode>::type
tex1Dfetch(const texture<T, axes, mode> &t, int x) {
    return tex1Dfetch<typename pycu2c_textures::read<T, mode>::type>(t.object, x);
}
template <class T, int axes, cudaTextureReadMode mode>
static __device__ __forceinline__ typename pycu2c_textures::read<T, mode>::type
tex1D(const texture<T, axes, mode> &t, float x) {
    return tex1D<typename pycu2c_textures::read<T, mode>::type>(t.object, x);
}
template <class T, int axes, cudaTextureReadMode mode>
static __device__ __forceinline__ typename pycu2c_textures::read<T, mode>::type
tex2D(const texture<T, axes, mode> &t, float x, float y) {
    return tex2D<typename pycu2c_textures::read<T, mode>::type>(t.object, x, y);
}
template <class T, int axes, cudaTextureReadMode mode>
static __device__ __forceinline__ typename pycu2c_textures::read<T, mode>::type
tex3D(const texture<T, axes, mode> &t, float x, float y, float z) {
    return tex3D<typename pycu2c_textures::read<T, mode>::type>(t.object, x, y, z);
}
template <class T, int axes, cudaTextureReadMode mode>
static __device__ __forceinline__ typename pycu2c_textures::read<T, mode>::type
tex1DLayered(const texture<T, axes, mode> &t, float x, int layer) {
    return tex1DLayered<typename pycu2c_textures::read<T, mode>::type>(t.object, x, layer);
}
template <class T, int axes, cudaTextureReadMode mode>
static __device__ __forceinline__ typename pycu2c_textures::read<T, mode>::type
tex2DLayered(const texture<T, axes, mode> &t, float x, float y, int layer) {
    return tex2DLayered<typename pycu2c_textures::read<T, mode>::type>(t.object, x, y, layer);
}
