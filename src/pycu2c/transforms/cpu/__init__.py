"""Passes of the CPU target: from the code of one thread to loops over the threads of a block."""
