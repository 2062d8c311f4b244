// The strides of an array in bytes, read by axis.
template <int axes>
struct _Bytes {
    ptrdiff_t of[axes ? axes : 1];
    __device__ ptrdiff_t operator[](ptrdiff_t axis) const { return of[axis]; }
};

// The index along each axis, from an initializer list.
template <int axes>
struct _Place {
    ptrdiff_t of[axes ? axes : 1];
};

// A raw array, which the operation indexes: x[i] by the linear index in C order, x[{i, j}] and
// x[_ind.get()] by the index along each axis. _strides are in elements. operator[] for pointers is a
// template, because otherwise x[0] would be ambiguous.
template <typename T, int axes, bool packed = false>
struct CArray {
    enum { ndim = axes };
    T *_data;
    ptrdiff_t _shape[axes ? axes : 1], _strides[axes ? axes : 1];

    __device__ ptrdiff_t size() const {
        ptrdiff_t count = 1;
        for (int axis = 0; axis < axes; axis++) count *= _shape[axis];
        return count;
    }
    __device__ const ptrdiff_t *shape() const { return _shape; }
    __device__ _Bytes<axes> strides() const {
        _Bytes<axes> found;
        for (int axis = 0; axis < axes; axis++) found.of[axis] = _strides[axis] * sizeof(T);
        return found;
    }
    template <typename Index>
    __device__ T &operator[](const Index *place) const {
        ptrdiff_t at = 0;
        for (int axis = 0; axis < axes; axis++) at += place[axis] * _strides[axis];
        return _data[at];
    }
    __device__ T &operator[](const _Place<axes> &place) const { return (*this)[place.of]; }
    __device__ T &operator[](ptrdiff_t i) const {
        if (packed) return _data[i];
        ptrdiff_t at = 0;
        for (int axis = axes - 1; axis > 0; axis--) {
            at += i % _shape[axis] * _strides[axis];
            i /= _shape[axis];
        }
        return _data[axes ? at + i * _strides[0] : 0];
    }
};
