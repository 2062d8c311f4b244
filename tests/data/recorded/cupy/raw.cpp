// The strides of an array in bytes, read by axis.
template <int axes>
struct _ByteStrides {
    ptrdiff_t values[axes ? axes : 1];
    __device__ ptrdiff_t operator[](ptrdiff_t axis) const { return values[axis]; }
};

// The index along each axis, from an initializer list.
template <int axes>
struct _AxisIndices {
    ptrdiff_t values[axes ? axes : 1];
};

// A raw array, which the operation indexes: x[i] by the linear index in C order, x[{i, j}] and
// x[_ind.get()] by the index along each axis. _strides are in elements. operator[] for pointers is a
// template, because otherwise x[0] would be ambiguous.
template <typename T, int axes, bool is_contiguous = false>
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
    __device__ _ByteStrides<axes> strides() const {
        _ByteStrides<axes> result;
        for (int axis = 0; axis < axes; axis++) result.values[axis] = _strides[axis] * sizeof(T);
        return result;
    }
    template <typename Index>
    __device__ T &operator[](const Index *indices) const {
        ptrdiff_t offset = 0;
        for (int axis = 0; axis < axes; axis++) offset += indices[axis] * _strides[axis];
        return _data[offset];
    }
    __device__ T &operator[](const _AxisIndices<axes> &indices) const {
        return (*this)[indices.values];
    }
    __device__ T &operator[](ptrdiff_t i) const {
        if (is_contiguous) return _data[i];
        ptrdiff_t offset = 0;
        for (int axis = axes - 1; axis > 0; axis--) {
            offset += i % _shape[axis] * _strides[axis];
            i /= _shape[axis];
        }
        return _data[axes ? offset + i * _strides[0] : 0];
    }
};

typedef double T;

struct _arguments_of_gathered {
    int32_t grid[3], block[3];
    int64_t shared_bytes;
    const T *_raw_x;
    const T *_raw_y;
    T *_raw_z;
    ptrdiff_t _x_n0;
    ptrdiff_t _x_n1;
    ptrdiff_t _x_s0;
    ptrdiff_t _x_s1;
    ptrdiff_t _y_n0;
    ptrdiff_t _y_s0;
    ptrdiff_t _size;
};

extern "C" __attribute__((visibility("default"))) void pycu2c_gathered(const void *_packed_arguments, int64_t _first_block, int64_t _last_block) {
    const _arguments_of_gathered &_arguments = *(const _arguments_of_gathered *)_packed_arguments;
    const T *_raw_x = _arguments._raw_x;
    const T *_raw_y = _arguments._raw_y;
    T *_raw_z = _arguments._raw_z;
    const ptrdiff_t _x_n0 = _arguments._x_n0;
    const ptrdiff_t _x_n1 = _arguments._x_n1;
    const ptrdiff_t _x_s0 = _arguments._x_s0;
    const ptrdiff_t _x_s1 = _arguments._x_s1;
    const ptrdiff_t _y_n0 = _arguments._y_n0;
    const ptrdiff_t _y_s0 = _arguments._y_s0;
    const ptrdiff_t _size = _arguments._size;
    const CArray<const T, 2> x = {_raw_x, {_x_n0, _x_n1}, {_x_s0, _x_s1}};
    const CArray<const T, 1, true> y = {_raw_y, {_y_n0}, {_y_s0}};
    const ptrdiff_t n = _size;
    const ptrdiff_t _begin = _first_block * 1024;
    const ptrdiff_t _end = _last_block * 1024 < _size ? _last_block * 1024 : _size;
#pragma omp simd
    for (ptrdiff_t i = _begin; i < _end; i++) {
        T &z = _raw_z[i];
        ptrdiff_t at[] = {i % 3, i / 3};
        z = x[at] + y[n - 1 - i];
    }
}
