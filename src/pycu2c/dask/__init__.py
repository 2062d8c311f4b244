"""Launch kernels on the chunks of Dask arrays. Requires ``dask`` and ``distributed``."""

from pycu2c.dask.chunked_launches import copy_to_host as copy_to_host
from pycu2c.dask.chunked_launches import map_blocks as map_blocks
from pycu2c.dask.chunked_launches import map_overlap as map_overlap
from pycu2c.dask.chunked_launches import to_device as to_device
from pycu2c.dask.workers import local_cluster as local_cluster
from pycu2c.devices import dask_serialization as dask_serialization

__all__ = ["copy_to_host", "local_cluster", "map_blocks", "map_overlap", "to_device"]
