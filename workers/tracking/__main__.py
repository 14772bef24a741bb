"""Starts the process that tells mlflow."""

import sys

from workers import tracking

if __name__ == "__main__":
    tracking.main(int(sys.argv[1]))
