"""Launch kernels, those of ``cuda.jit``, or plain functions thread by thread: ``python`` MODE."""

import sys
from types import SimpleNamespace

MODE = sys.argv[1]
if MODE == "plain":
    THREAD = SimpleNamespace(x=0)
    cuda = SimpleNamespace(grid=lambda _: THREAD.x, threadIdx=THREAD, syncthreads=lambda: None)

    def device(function):
        return function

    kernel = device

    def launch(function, threads, *arguments):
        for THREAD.x in range(threads):
            function(*arguments)

else:
    import pycu2c
    from pycu2c import cuda

    device = cuda.jit(device=True) if MODE == "numba" else pycu2c.device
    kernel = cuda.jit if MODE == "numba" else pycu2c.kernel(backend=MODE, check=len(sys.argv) > 2)

    def launch(function, threads, *arguments):
        function[1, threads](*arguments)
