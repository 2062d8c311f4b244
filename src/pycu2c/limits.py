"""Up to what size a launch is an ordinary one, whose code may count in 32 bits."""

INDEX32_LIMIT = 1 << 30  # elements, threads along an axis, Python ints
BLOCKS32_LIMIT = 1 << 22  # along an axis
MOST_ACCUMULATED = 4096  # elements of an array that each OS thread has a copy of
