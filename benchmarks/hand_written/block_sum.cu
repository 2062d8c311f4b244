#define THREADS 256

// one sum per block
extern "C" __global__ void block_sum(float *out, const float *__restrict__ x, int n)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    int i = blockIdx.x * THREADS + t;
    part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
