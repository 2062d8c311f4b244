"""Store compiled code on disk: content-addressed entries, eviction, file locks."""
