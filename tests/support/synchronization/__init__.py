"""Programs with barriers and warp operations, with expected results from numpy."""
