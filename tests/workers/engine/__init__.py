"""The engine: decoding, tiles, chunks, the ledger."""
