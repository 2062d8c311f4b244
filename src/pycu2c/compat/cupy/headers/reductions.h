// Elements of one vector load.
template <typename T, int count>
struct alignas(sizeof(T) * count) _Pack {
    T values[count];
};

// Return the value of the lane that is `ahead` lanes after this one, in groups of `lanes`.
template <typename P>
__device__ inline P _of_lane(const P &value, int ahead, int lanes) {
    unsigned int words[(sizeof(P) + 3) / 4] = {};
    memcpy(words, &value, sizeof(P));
    for (unsigned int &word : words) word = __shfl_down_sync(0xffffffff, word, ahead, lanes);
    P found;
    memcpy(&found, words, sizeof(P));
    return found;
}

// Return the value of the lane that is `back` lanes before this one in the warp.
template <typename P>
__device__ inline P _of_lane_before(const P &value, int back) {
    unsigned int words[(sizeof(P) + 3) / 4] = {};
    memcpy(words, &value, sizeof(P));
    for (unsigned int &word : words) word = __shfl_up_sync(0xffffffff, word, back);
    P found;
    memcpy(&found, words, sizeof(P));
    return found;
}

// Reduce the values of adjacent lanes of a warp; the first lane of each group has the result.
template <int lanes, typename P, typename Join>
__device__ inline P _over_lanes(P value, const Join &join) {
#pragma unroll
    for (int ahead = lanes / 2; ahead > 0; ahead /= 2) {
        value = join(value, _of_lane(value, ahead, lanes));
    }
    return value;
}

// Reduce the values of all threads of a block; the first thread has the result.
template <int threads, typename P, typename Join>
__device__ inline P _over_block(P value, const Join &join) {
    __shared__ __align__(16) unsigned char memory[threads / 32 * sizeof(P)];
    P *const parts = (P *)memory;
    value = _over_lanes<32>(value, join);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = parts[threadIdx.x % (threads / 32)];
        value = _over_lanes<threads / 32>(value, join);
    }
    __syncthreads();
    return value;
}

// Reduce the values of the threads of each column; the threads of the first row have the results.
template <int threads, int columns, typename P, typename Join>
__device__ inline P _over_columns(P value, const Join &join) {
    __shared__ __align__(16) unsigned char memory[threads * sizeof(P)];
    P *const parts = (P *)memory;
    parts[threadIdx.x] = value;
    __syncthreads();
#pragma unroll
    for (int half = threads / 2; half >= columns; half /= 2) {
        if (threadIdx.x < half) {
            parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);
        }
        __syncthreads();
    }
    value = parts[threadIdx.x % columns];
    __syncthreads();
    return value;
}

// Return whether this block is the last of a group to write its partial result.
__device__ inline bool _is_last(unsigned int *done, unsigned int blocks) {
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(done, blocks - 1) == blocks - 1; // wraps to 0
    __syncthreads();
    __threadfence();
    return last;
}

// Write a value for other blocks. Padding bytes are written, because readers load whole words.
template <typename P>
__device__ inline void _write(P *to, const P &value) {
    if (sizeof(P) % 4 == 0 && alignof(P) % 4 == 0) {
        unsigned int words[(sizeof(P) + 3) / 4] = {};
        memcpy(words, &value, sizeof(P));
        for (int k = 0; k < sizeof(P) / 4; k++) ((unsigned int *)to)[k] = words[k];
    } else {
        *to = value;
    }
}

// Read a value that another block has written, bypassing the L1 cache.
template <typename P>
__device__ inline P _read(const P *from) {
    P found;
    if (sizeof(P) % 4 == 0 && alignof(P) % 4 == 0) {
        unsigned int words[(sizeof(P) + 3) / 4];
        for (int k = 0; k < sizeof(P) / 4; k++) words[k] = __ldcg((const unsigned int *)from + k);
        memcpy(&found, words, sizeof(P));
    } else {
        unsigned char bytes[sizeof(P)];
        for (int k = 0; k < sizeof(P); k++) bytes[k] = __ldcg((const unsigned char *)from + k);
        memcpy(&found, bytes, sizeof(P));
    }
    return found;
}
