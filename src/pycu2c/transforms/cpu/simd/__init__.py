"""SIMD batches of threads: strip-mining, active masks, if-conversion, scalar replacement."""
