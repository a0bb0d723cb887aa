"""A black-box runner that holds any server of wire 6 to its contract over HTTP.

It is a client: it knows the contract (seeds/wire) and nothing of this server's code. Every case works in names nobody
used before and redacts what it wrote, so that it may be pointed at a server in use.
"""
