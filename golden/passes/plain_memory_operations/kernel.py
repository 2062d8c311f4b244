"""Loads and stores with cache hints, and atomics on shared memory, become plain operations."""

from pycu2c import cuda, int32, kernel

TARGET = "cpu"
SIGNATURE = "int32[::1]"


@kernel(block=64)
def counted(x):
    counts = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        counts[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, cuda.ldcg(x, t) % 8, 1)
    cuda.syncthreads()
    cuda.stcs(x, t, counts[t % 8])
