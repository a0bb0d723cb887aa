"""What the environment says about who may call, judged before anything is served."""

from __future__ import annotations

from authz import grants_file, token_table


def check(serve_token: str | None, serve_grants: str | None) -> None:
    """Read the token table and the grants file whole.

    :raises TableRefused: the table cannot be used
    :raises GrantsRefused: the file cannot be used
    """
    entries = () if serve_token is None else token_table.parse(serve_token)
    if serve_grants is not None:
        grants_file.load(serve_grants, {entry.actor for entry in entries})
