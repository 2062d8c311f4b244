// Typed arrays and errors of the launch functions that pycu2c generates, for C++17.
//
// You may use, change and distribute this file freely, for any purpose and without conditions.
#ifndef PYCU2C_RUNTIME_HPP_
#define PYCU2C_RUNTIME_HPP_

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "pycu2c_runtime.h"

namespace pycu2c {

struct float16 {
    std::uint16_t bits;
};

struct bfloat16 {
    std::uint16_t bits;
};

inline pycu2c_complex to_complex(std::complex<double> number) { return {number.real(), number.imag()}; }

// A launch that failed.
class error : public std::runtime_error {
  public:
    error(pycu2c_status code, const char *message) : std::runtime_error(message), status(code) {}
    const pycu2c_status status;
};

inline void check(pycu2c_status status, const char *(*last_error)()) {
    if (status != PYCU2C_SUCCESS) throw error(status, last_error());
}

// How a kernel is launched. stream: a CUstream or cudaStream_t.
struct configuration {
    pycu2c_dim3 grid, block = {256, 1, 1};
    std::size_t shared_bytes = 0;
    void *stream = nullptr;
};

constexpr DLDevice cpu = {kDLCPU, 0};
constexpr DLDevice gpu(std::int32_t ordinal = 0) { return {kDLCUDA, ordinal}; }

template <class T> constexpr bool is_complex = false;
template <class T> constexpr bool is_complex<std::complex<T>> = true;

// The type of a number, or of a record as bytes.
template <class T> constexpr DLDataType type_of() {
    using U = std::remove_const_t<T>;
    constexpr auto bits = static_cast<std::uint8_t>(8 * sizeof(U));
    if constexpr (std::is_same_v<U, bool>) return {kDLBool, 8, 1};
    else if constexpr (std::is_same_v<U, bfloat16>) return {kDLBfloat, 16, 1};
    else if constexpr (std::is_same_v<U, float16> || std::is_floating_point_v<U>)
        return {kDLFloat, bits, 1};
    else if constexpr (std::is_integral_v<U>)
        return {static_cast<std::uint8_t>(std::is_signed_v<U> ? kDLInt : kDLUInt), bits, 1};
    else if constexpr (is_complex<U>) return {kDLComplex, bits, 1};
    else {
        static_assert(std::is_class_v<U> && std::is_trivially_copyable_v<U>, "not a number or a record");
        return {kDLUInt, 8, sizeof(U)};
    }
}

template <class T> DLTensor tensor_of(T *data, std::size_t axes, DLDevice device) {
    DLTensor tensor = {};
    tensor.data = const_cast<std::remove_const_t<T> *>(data);
    tensor.device = device;
    tensor.ndim = static_cast<std::int32_t>(axes);
    tensor.dtype = type_of<T>();
    return tensor;
}

// Whether a pointer to elements of another type may be used: to U for one to const U.
template <class U, class T> constexpr bool is_compatible = std::is_convertible_v<U (*)[], T (*)[]>;

template <class C>
using element_of = std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>;

// An array of N axes that this object does not own.
template <class T, std::size_t N> class array {
  public:
    using lengths = std::array<std::int64_t, N>;

    // A C-contiguous array.
    array(T *data, lengths shape, DLDevice device = cpu) : array(data, shape, {}, device) {
        std::int64_t stride = 1;
        for (std::size_t axis = N; axis-- > 0; stride *= shape[axis]) strides_[axis] = stride;
    }

    // strides: in elements.
    array(T *data, lengths shape, lengths strides, DLDevice device = cpu)
        : shape_(shape), strides_(strides), tensor_(tensor_of(data, N, device)) {}

    // A container in memory of the CPU, such as std::vector.
    template <class C, class = std::enable_if_t<N == 1 && is_compatible<element_of<C>, T>>>
    array(C &&container)
        : array(std::data(container), {static_cast<std::int64_t>(std::size(container))}) {}

    // An array whose elements may be written, for one whose elements are only read.
    template <class U, class = std::enable_if_t<is_compatible<U, T>>>
    array(const array<U, N> &other)
        : shape_(other.shape_), strides_(other.strides_), tensor_(other.tensor_) {}

    // Valid as long as this object.
    const DLTensor *tensor() {
        tensor_.shape = shape_.data();
        tensor_.strides = strides_.data();
        return &tensor_;
    }

  private:
    template <class, std::size_t> friend class array;
    lengths shape_, strides_;
    DLTensor tensor_;
};

}  // namespace pycu2c
#endif
