// $T at any address.
__device__ __forceinline__ $T aligned(const $P &x) {
    $T value;
    memcpy(&value, &x, sizeof value);
    return value;
}

__device__ __forceinline__ $P packed($T x) {
    $packed
    return value;
}
