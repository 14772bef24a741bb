"""What trainings share: the loop, its processes, its reports; knows no family."""
