"""IR to C text."""
