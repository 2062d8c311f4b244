"""The typed tree IR."""
