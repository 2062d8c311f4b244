// $T at any address.
__device__ __forceinline__ $T aligned(const struct $P &x) {
    $T value;
    memcpy(&value, &x, sizeof value);
    return value;
}

__device__ __forceinline__ struct $P packed($T x) {
    $packed
    return value;
}
