"""Images and what people say of them: saves, imports, exports, changes of many."""
