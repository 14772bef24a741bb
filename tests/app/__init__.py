"""The site and the commands, called without a browser; may ask app and backend, no worker."""
