extern "C" __global__ void gather(const float *__restrict__ source, int source_len,
                                  const int *__restrict__ indices, int indices_len,
                                  float *__restrict__ out, int out_len, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = source[indices[i]];
}
