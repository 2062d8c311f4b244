// The iteration space of an operation, and the index of the current element along each axis.
template <int axes>
struct CIndexer {
    enum { ndim = axes };
    ptrdiff_t _size, _shape[axes], _indices[axes];

    __device__ ptrdiff_t size() const { return _size; }
    __device__ const ptrdiff_t *shape() const { return _shape; }
    __device__ const ptrdiff_t *get() const { return _indices; }
    __device__ void set(ptrdiff_t i) {
        for (int axis = axes - 1; axis > 0; axis--) {
            _indices[axis] = i % _shape[axis];
            i /= _shape[axis];
        }
        _indices[0] = i;
    }
};
