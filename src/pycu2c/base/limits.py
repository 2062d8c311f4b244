"""Limits of launches and devices, and the bounds of 32-bit index arithmetic."""

INDEX32_LIMIT = 1 << 30  # of elements; lengths, threads along an axis and Python ints are below it
MAX_ARRAY_ELEMENTS = 1 << 48  # elements of an array
PRODUCT32_LIMIT = 1 << 29  # of a product of integers, so that four times it does not wrap
INT64_LIMIT = (1 << 63) - MAX_ARRAY_ELEMENTS  # sums of such an int64 and an index do not overflow
BLOCKS32_LIMIT = 1 << 22  # blocks along an axis
MAX_SHORT_AXIS = 16  # elements of a last axis for whose length a kernel is compiled
MAX_ACCUMULATOR_ELEMENTS = 4096  # elements of an array that each OS thread copies
CACHE_EXCEEDING_BYTES = 160 << 20  # accessed bytes of a launch that no cache holds
MAX_SHARED_BYTES = 227 * 1024  # bytes of a block, on the largest device
MAX_BLOCK_THREADS = 1024  # threads of a block
MAX_CLUSTER_BLOCKS = 16  # blocks of a cluster on the largest GPU; 8 are portable
MAX_AXES = 16  # axes of an array
MAX_REGISTERS = 255  # registers of a thread
DEFAULT_BLOCK_THREADS = 256  # hides memory latency, and the last block has few idle threads
