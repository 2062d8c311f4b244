"""What is shown to people: HTML, colours, progress and traces."""
