"""Memory passes of the CPU target: prefetching, non-temporal stores, privatized accumulators."""
