__device__ unsigned int mixed(unsigned int h) {
    h ^= h >> 16;
    h *= 2246822507U;
    h ^= h >> 13;
    h *= 3266489909U;
    h ^= h >> 16;
    return h;
}

extern "C" __global__ void integer_hash(const unsigned int *keys, int keys_len, unsigned int *out,
                                        unsigned int seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < keys_len) {
        out[i] = mixed(keys[i] ^ mixed(seed + i));
    }
}
