"""Abstract execution of a block, which proves that arrays need no shadow memory."""
