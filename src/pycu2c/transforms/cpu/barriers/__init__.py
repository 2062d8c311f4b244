"""Lowering of barriers and warp operations, and of whole kernels to coroutines."""
