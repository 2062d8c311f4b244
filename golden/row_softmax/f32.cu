// The thread's number in its warp.
__device__ __forceinline__ int laneid_i32() {
    unsigned int value;
    asm("mov.u32 %0, %%laneid;" : "=r"(value));
    return (int)value;
}

// max(a, b) as in Python: a unless b > a.
__device__ __forceinline__ float max_f32(float a, float b) {
    return b > a ? b : a;
}

__device__ int block_threads(void) {
    return blockDim.x * blockDim.y * blockDim.z;
}

__device__ int thread_rank(void) {
    int row = threadIdx.y + blockDim.y * threadIdx.z;
    return threadIdx.x + blockDim.x * row;
}

__device__ float reduce_lanes(float value, int lanes) {
    for (int step = 0; step < 5; ++step) {
        int distance = 1 << step;
        float other = __shfl_down_sync(0xffffffff, value, distance);
        if (laneid_i32() + distance < lanes) {
            value = max_f32(value, other);
        }
    }
    return value;
}

__device__ void store_items(float *arrays, int index_, float value) {
    arrays[index_] = value;
}

__device__ float load_items(const float *arrays, int index_) {
    return arrays[index_];
}

__device__ float reduce_warps(float value, float *of_warps, int count) {
    int rank = thread_rank();
    int lanes = min(32, count - (rank / 32) * 32);
    float own = value;
    float result = reduce_lanes(own, lanes);
    if (laneid_i32() == 0) {
        store_items(of_warps, rank / 32, result);
    }
    __syncthreads();
    if (rank < 32) {
        int warps = (count + 31) / 32;
        if (rank < warps) {
            result = load_items(of_warps, rank);
        }
        result = reduce_lanes(result, warps);
    }
    return result;
}

__device__ float all_reduce(float value) {
    float combined = value;
    __shared__ float of_warps[32];
    float result = reduce_warps(combined, of_warps, block_threads());
    if (thread_rank() == 0) {
        store_items(of_warps, 0, result);
    }
    __syncthreads();
    result = load_items(of_warps, 0);
    __syncthreads();
    return result;
}

__device__ float reduce_lanes_1(float value, int lanes) {
    for (int step = 0; step < 5; ++step) {
        int distance = 1 << step;
        float other = __shfl_down_sync(0xffffffff, value, distance);
        if (laneid_i32() + distance < lanes) {
            value += other;
        }
    }
    return value;
}

__device__ float reduce_warps_1(float value, float *of_warps, int count) {
    int rank = thread_rank();
    int lanes = min(32, count - (rank / 32) * 32);
    float own = value;
    float result = reduce_lanes_1(own, lanes);
    if (laneid_i32() == 0) {
        store_items(of_warps, rank / 32, result);
    }
    __syncthreads();
    if (rank < 32) {
        int warps = (count + 31) / 32;
        if (rank < warps) {
            result = load_items(of_warps, rank);
        }
        result = reduce_lanes_1(result, warps);
    }
    return result;
}

__device__ float all_reduce_1(float value) {
    float combined = value;
    __shared__ float of_warps[32];
    float result = reduce_warps_1(combined, of_warps, block_threads());
    if (thread_rank() == 0) {
        store_items(of_warps, 0, result);
    }
    __syncthreads();
    result = load_items(of_warps, 0);
    __syncthreads();
    return result;
}

extern "C" __global__ void row_softmax(float *out, int out_shape1, const float *x, int x_shape1) {
    int row = blockIdx.x;
    int column = threadIdx.x;
    float value = x[row * x_shape1 + column];
    float exponential = expf(value - all_reduce(value));
    out[row * out_shape1 + column] = exponential / all_reduce_1(exponential);
}
