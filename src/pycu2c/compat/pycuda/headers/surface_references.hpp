// Surface references, which CUDA 12 has removed: a class with a surface object, and overloads.

template <class T, int dim = 1> struct surface {
    cudaSurfaceObject_t object = 0;
    int format = 0, channels = 0, axes = dim, normalized = 0;
};
template <class T, int axes, class V>
static __device__ __forceinline__ void
surf1Dwrite(V value, const surface<T, axes> &s, int x,
            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    surf1Dwrite<V>(value, s.object, x, mode);
}
template <class T, int axes, class V>
static __device__ __forceinline__ void
surf1Dread(V *value, const surface<T, axes> &s, int x,
           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *value = surf1Dread<V>(s.object, x, mode);
}
template <class V, class T, int axes>
static __device__ __forceinline__ V
surf1Dread(const surface<T, axes> &s, int x,
           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return surf1Dread<V>(s.object, x, mode);
}
template <class T, int axes, class V>
static __device__ __forceinline__ void
surf2Dwrite(V value, const surface<T, axes> &s, int x, int y,
            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    surf2Dwrite<V>(value, s.object, x, y, mode);
}
template <class T, int axes, class V>
static __device__ __forceinline__ void
surf2Dread(V *value, const surface<T, axes> &s, int x, int y,
           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *value = surf2Dread<V>(s.object, x, y, mode);
}
template <class V, class T, int axes>
static __device__ __forceinline__ V
surf2Dread(const surface<T, axes> &s, int x, int y,
           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return surf2Dread<V>(s.object, x, y, mode);
}
template <class T, int axes, class V>
static __device__ __forceinline__ void
surf3Dwrite(V value, const surface<T, axes> &s, int x, int y, int z,
            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    surf3Dwrite<V>(value, s.object, x, y, z, mode);
}
template <class T, int axes, class V>
static __device__ __forceinline__ void
surf3Dread(V *value, const surface<T, axes> &s, int x, int y, int z,
           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *value = surf3Dread<V>(s.object, x, y, z, mode);
}
template <class V, class T, int axes>
static __device__ __forceinline__ V
surf3Dread(const surface<T, axes> &s, int x, int y, int z,
           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return surf3Dread<V>(s.object, x, y, z, mode);
}
template <class T, int axes, class V>
static __device__ __forceinline__ void
surf2DLayeredwrite(V value, const surface<T, axes> &s, int x, int y, int layer,
                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    surf2DLayeredwrite<V>(value, s.object, x, y, layer, mode);
}
template <class T, int axes, class V>
static __device__ __forceinline__ void
surf2DLayeredread(V *value, const surface<T, axes> &s, int x, int y, int layer,
                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    *value = surf2DLayeredread<V>(s.object, x, y, layer, mode);
}
template <class V, class T, int axes>
static __device__ __forceinline__ V
surf2DLayeredread(const surface<T, axes> &s, int x, int y, int layer,
                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {
    return surf2DLayeredread<V>(s.object, x, y, layer, mode);
}
