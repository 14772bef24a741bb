"""What models find: runs asked for, foreseen and compared; may ask models, labels, projects."""
