"""What trainings share: the loop, its processes, its reports; may ask projects, no other room."""
