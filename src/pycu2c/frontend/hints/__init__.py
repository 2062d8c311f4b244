"""Word the hints of compile errors: what to write in place of an unsupported construct."""
