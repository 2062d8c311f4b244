"""What is shown to people: colours, progress and traces."""
