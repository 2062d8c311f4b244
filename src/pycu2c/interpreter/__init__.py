"""The reference interpreter: run the typed IR of kernels in Python, thread by thread."""
