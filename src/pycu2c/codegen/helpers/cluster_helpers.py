"""Helpers for clusters, from builtins that NVRTC has without a header."""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper

CLUSTER_HELPERS: dict[str, Helper] = {
    "cluster_sync": Helper(
        fixed="""
// Every thread of the cluster comes here before one goes on.
$q void cluster_sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
"""
    ),
    "shared_of": Helper(
        fixed="""
// The same shared array of the block with this number in the cluster.
template <typename T> $q T *shared_of(T *array, unsigned int rank) {
    return (T *)__cluster_map_shared_rank(array, rank);
}
"""
    ),
}
