"""Bulk detection: pictures in, packed boxes out, over processes of this machine or of a cluster."""
