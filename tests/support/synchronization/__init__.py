"""Programs of blocks and warps, with what they compute known from plain numpy."""
