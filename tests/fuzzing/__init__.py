"""Random well-typed kernels, run on every target and compared: ``make fuzz N=1000``."""
