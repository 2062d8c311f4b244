import time, numpy as np, ctypes, statistics as st
from concurrent.futures import ThreadPoolExecutor
from pycu2c import cuda, kernel
from pycu2c.runtime import driver, memory


def med(f, n=200, k=15):
    f()
    ts = []
    for _ in range(k):
        t = time.perf_counter()
        for _ in range(n):
            f()
        ts.append((time.perf_counter() - t) / n)
    cuda.synchronize()
    return 1e6 * st.median(ts)


print("alloc+free 1MB us", med(lambda: cuda.device_array(1 << 18, np.float32)))
print("alloc+free DeviceMemory", med(lambda: memory.DeviceMemory(1 << 20)))
api = driver.api()


def raw():
    p = api.cuMemAllocAsync(1 << 20, 0)[1]
    api.cuMemFreeAsync(p, 0)


print("raw alloc/free async", med(raw))


def rawsync():
    p = api.cuMemAlloc(1 << 20)[1]
    api.cuMemFree(p)


print("raw alloc/free sync", med(rawsync, 50, 5))
print("make_current", med(driver.make_current))
a = cuda.to_device(np.zeros((100, 100), np.float32))
print(
    "view us",
    med(lambda: a[1:50, ::2]),
    "T",
    med(lambda: a.T),
    "scalar get",
    med(lambda: a[3, 3], 50),
)
print(
    "fill us",
    med(lambda: a.__setitem__(..., 0)),
    "strided fill",
    med(lambda: a.__setitem__((slice(None), slice(0, None, 2)), 0), 20),
)
small = np.zeros(100, np.float32)
print(
    "to_device small",
    med(lambda: cuda.to_device(small), 50),
    "copy_to_host small",
    med(lambda: a.copy_to_host(), 50),
)
try:
    import cupy

    print(
        "cupy empty",
        med(lambda: cupy.empty(1 << 18, np.float32)),
        "cupy asarray(host)",
        med(lambda: cupy.asarray(small), 50),
        "view",
        med(lambda: cupy.zeros((100, 100)).T if 0 else None),
    )
    c = cupy.zeros((100, 100), np.float32)
    print(
        "cupy view",
        med(lambda: c[1:50, ::2]),
        "T",
        med(lambda: c.T),
        "fill",
        med(lambda: c.fill(0)),
        "get",
        med(lambda: c.get(), 50),
    )
except ImportError:
    pass
try:
    from numba import cuda as nc

    print(
        "numba device_array",
        med(lambda: nc.device_array(1 << 18, np.float32), 20, 5),
        "to_device small",
        med(lambda: nc.to_device(small), 20, 5),
    )
except Exception as e:
    print("numba", e)
# bandwidth
big = np.ones(1 << 26, np.float32)
dev = cuda.device_array(1 << 26, np.float32)
n = big.nbytes


def bw(f, k=7):
    f()
    ts = []
    for _ in range(k):
        t = time.perf_counter()
        f()
        cuda.synchronize()
        ts.append(time.perf_counter() - t)
    return n / min(ts) / 1e9


print(
    "pageable in GB/s",
    bw(lambda: dev.copy_to_device(big)),
    "out",
    bw(lambda: dev.copy_to_host(big)),
    "out new",
    bw(lambda: dev.copy_to_host()),
)
pin = cuda.pinned_array(1 << 26, np.float32)
pin[...] = 1
print("pinned in", bw(lambda: dev.copy_to_device(pin)), "out", bw(lambda: dev.copy_to_host(pin)))
print("host memcpy", bw(lambda: np.copyto(pin, big)), bw(lambda: np.copyto(big, pin)))
for size in (1 << 20, 1 << 22, 1 << 24):
    for workers in (1, 2, 4, 8):
        pool = ThreadPoolExecutor(workers)
        count = max(3, 2 * workers)
        stages = [cuda.pinned_array(size, np.uint8) for _ in range(count)]
        events = [cuda.event(False) for _ in range(count)]
        src = big.view(np.uint8)
        cur = driver

        def staged_in():
            def fill(i):
                driver.make_current()
                k = i % count
                events[k].synchronize()
                part = src[i * size : (i + 1) * size]
                np.copyto(stages[k][: len(part)], part)
                return i

            total = -(-n // size)
            futures = [pool.submit(fill, i) for i in range(min(count, total))]
            for i in range(total):
                futures[i].result()
                k = i % count
                driver.copy_in(
                    dev.address + i * size, stages[k].ctypes.data, min(size, n - i * size), 0
                )
                events[k].record()
                if i + count < total:
                    futures.append(pool.submit(fill, i + count))
            driver.synchronize(0)

        def staged_out():
            total = -(-n // size)

            def drain(i):
                driver.make_current()
                k = i % count
                events[k].synchronize()
                part = src[i * size : (i + 1) * size]
                np.copyto(part, stages[k][: len(part)])

            futures = {}
            for i in range(total):
                k = i % count
                if i - count in futures:
                    futures[i - count].result()
                driver.copy_out(
                    stages[k].ctypes.data, dev.address + i * size, min(size, n - i * size), 0
                )
                events[k].record()
                futures[i] = pool.submit(drain, i)
            for f in list(futures.values())[-count:]:
                f.result()

        print(
            "staged",
            size >> 20,
            "MB chunks,",
            workers,
            "threads: in",
            round(bw(staged_in), 1),
            "out",
            round(bw(staged_out), 1),
        )
        pool.shutdown()
# registering
t = time.perf_counter()
with cuda.pinned(big):
    pass
print("register+unregister 256MB ms", 1e3 * (time.perf_counter() - t))
