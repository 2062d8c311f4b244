"""Arrays, memory, streams and events that a program makes on the host."""
