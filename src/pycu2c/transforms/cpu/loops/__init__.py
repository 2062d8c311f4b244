"""Loop passes of the CPU target: loop order, interchange, tiling, unrolling, versioning."""
