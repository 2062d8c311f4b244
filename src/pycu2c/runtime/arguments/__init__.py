"""Convert Python call arguments to the packed parameters of a kernel.

``call_binding`` binds values to parameters, ``flattened_arguments`` splits them into types and
leaves, ``signature_conversion`` checks the types, ``arguments`` packs the leaves.
"""
