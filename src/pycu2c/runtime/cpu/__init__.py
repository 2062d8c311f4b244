"""Launch kernels on the CPU: thread pool, coroutine scheduler and fibers."""
