"""Starts the process of a job.

It is a `__main__` because what multiprocessing starts from here would import any other main module
again, and with it the database and all handlers.
"""

import sys

from workers import runner

if __name__ == "__main__":
    runner.main(int(sys.argv[1]))
