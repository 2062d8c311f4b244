"""Launch kernels on the chunks of Dask arrays. Requires ``dask`` and ``distributed``."""

from pycu2c.dask.chunked_launches import map_blocks as map_blocks
from pycu2c.dask.chunked_launches import map_overlap as map_overlap
from pycu2c.devices import dask_serialization as dask_serialization

__all__ = ["map_blocks", "map_overlap"]
