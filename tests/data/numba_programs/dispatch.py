"""What can be asked of kernels: ways to launch them, their signatures."""

import numpy as np
from numba import cuda, float32, float64, int32, types, void


@cuda.jit([void(float32[:], float32), void(float64[:], float64)])
def shifted(a, by):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += by


@cuda.jit((int32[:], types.int32), fastmath=True, max_registers=64)
def filled(a, value):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = value


@cuda.jit(opt=True, debug=False, lineinfo=False)
def untyped(a):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < a.size:
        a[i] = cuda.gridDim.x * 1000 + cuda.blockDim.x


for dtype in (np.float32, np.float64):
    a = np.zeros(5, dtype=dtype)
    shifted[1, 8](a, 1.5)
    shifted[(1,), (8,)](a, 1)
    print(a.dtype, a.tolist())
b = np.zeros(5, dtype=np.int32)
filled[2, 4](b, 7)
filled.forall(3)(b[:3], 8)
print(b.tolist())
untyped[3, 2](b)
print(b.tolist())
launch = untyped[1, 8, cuda.stream(), 0]
launch(b)
cuda.synchronize()
print(b.tolist(), untyped.py_func.__name__)
