"""Lower expressions: arithmetic, comparisons, subscripts, views, tuples and vectors."""
