${header}${preamble}
extern "C" __global__ void ${name}(${parameters}, ${bounds})
{
    const unsigned tid = threadIdx.x, total_threads = gridDim.x * blockDim.x;
    const unsigned cta_start = blockDim.x * blockIdx.x;
    long i;
    ${loop_prep};
    ${loop}
    {
        ${operation};
    }
    ${after_loop};
}
