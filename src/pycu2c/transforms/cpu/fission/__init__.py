"""Work-item loops: parallel regions, loop fission at barriers, and context arrays.

Reference: Karrenberg and Hack, "Improving Performance of OpenCL on CPUs" (2012); pocl.
"""
