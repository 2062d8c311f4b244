"""Devices, contexts, streams, events, kinds of memory."""

import numpy as np
from numba import cuda


@cuda.jit
def scale(a, by):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= by


print(cuda.is_available(), len(cuda.gpus) == len(cuda.list_devices()) > 0)
cuda.select_device(0)
with cuda.gpus[0]:
    free, total = cuda.current_context().get_memory_info()
    print(free <= total)
assert cuda.get_current_device().compute_capability >= (5, 0)

stream = cuda.stream()
a = np.arange(40, dtype=np.float64)
with cuda.pinned(a):
    there = cuda.to_device(a, stream=stream)
    scale[2, 32, stream](there, 2)
    back = there.copy_to_host(stream=stream)
    stream.synchronize()
print(back.sum(), a.sum())

start, end = cuda.event(), cuda.event(timing=True)
start.record()
scale[2, 32](there, 0.5)
end.record()
end.synchronize()
print(cuda.event_elapsed_time(start, end) >= 0)

with stream.auto_synchronize():
    scale[2, 32, stream, 0](there, 3)
print(there.copy_to_host().sum(), there[3], there[2:5].copy_to_host().tolist())

like = cuda.device_array_like(a)
like.copy_to_device(there)
pinned = cuda.pinned_array(40)
mapped = cuda.mapped_array(40)
managed = cuda.managed_array(40)
pinned[:], mapped[:], managed[:] = 1, 2, 3
scale[2, 32](mapped, 2)
scale[2, 32](managed, 2)
cuda.synchronize()
print(like.copy_to_host().max(), pinned.sum(), mapped.sum(), managed.sum())
grid = cuda.device_array((4, 10), np.float32, order="C")
grid[:] = 0
print(grid.shape, grid.ndim, grid.size, grid.dtype, grid.strides, grid.is_c_contiguous())
print(grid.reshape(2, 20).ravel().shape, grid.T.shape, cuda.is_cuda_array(a))
with cuda.defer_cleanup():
    del like
host = np.zeros(40)
there.copy_to_host(host)
print(host.sum())
cuda.close()
