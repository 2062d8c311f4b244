"""Lower calls: Python built-ins, intrinsics, ufuncs, device functions and inline C."""
