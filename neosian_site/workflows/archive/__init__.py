"""The archive: a whole store as a directory of readable files, format 1 (seeds/wire "Store"; docs/archive.md)."""
