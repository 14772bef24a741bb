"""What mlflow is told of trainings, read back by its own client, whatever is killed meanwhile."""
