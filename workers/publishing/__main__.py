"""Starts the loader's process."""

import sys

from workers import publishing

if __name__ == "__main__":
    publishing.main(int(sys.argv[1]))
