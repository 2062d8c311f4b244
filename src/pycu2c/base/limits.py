"""How large a launch may be: at all, and for code that counts in 32 bits."""

INDEX32_LIMIT = 1 << 30  # elements, threads along an axis, Python ints
MOST_ELEMENTS = 1 << 48  # of any array
INT64_LIMIT = (1 << 63) - MOST_ELEMENTS  # int64s that no place, no length leads beyond 64 bits
BLOCKS32_LIMIT = 1 << 22  # along an axis
MOST_ACCUMULATED = 4096  # elements of an array that each OS thread has a copy of
PAST_CACHES = 160 << 20  # bytes that a launch takes and hardly a cache holds
MOST_SHARED = 227 * 1024  # bytes of a block, where a device has most
MOST_THREADS = 1024  # of a block
MOST_CLUSTER = 16  # blocks of a cluster, where a GPU has most; every GPU that has clusters takes 8
MOST_AXES = 16  # of an array
MOST_REGISTERS = 255  # of a thread
USUAL_BLOCK = 256  # threads: enough to hide latencies, and few enough that a tail is short
