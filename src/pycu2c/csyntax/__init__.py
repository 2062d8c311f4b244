"""C as data: a tree of expressions, statements and declarations, and its printer."""
