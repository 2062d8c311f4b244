"""How large a launch may be: at all, and for code that counts in 32 bits."""

INDEX32_LIMIT = 1 << 30  # elements, threads along an axis, Python ints
MAX_ARRAY_ELEMENTS = 1 << 48  # of any array
INT64_LIMIT = (1 << 63) - MAX_ARRAY_ELEMENTS  # int64s that no place, no length leads beyond 64 bits
BLOCKS32_LIMIT = 1 << 22  # along an axis
MAX_ACCUMULATOR_ELEMENTS = 4096  # elements of an array that each OS thread has a copy of
CACHE_EXCEEDING_BYTES = 160 << 20  # bytes that a launch takes and hardly a cache holds
MAX_SHARED_BYTES = 227 * 1024  # bytes of a block, where a device has most
MAX_BLOCK_THREADS = 1024  # of a block
MAX_CLUSTER_BLOCKS = (
    16  # blocks of a cluster, where a GPU has most; every GPU that has clusters takes 8
)
MAX_AXES = 16  # of an array
MAX_REGISTERS = 255  # of a thread
DEFAULT_BLOCK_THREADS = (
    256  # threads: enough to hide latencies, and few enough that a tail is short
)
