"""Intrinsics for threads: coordinates, barriers, warp operations, cooperative groups, clusters."""
