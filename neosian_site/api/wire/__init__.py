"""Wire 6 over HTTP (seeds/wire)."""
