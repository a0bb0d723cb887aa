"""What is stored, by name, number and size; never what it says. Erasures as their trails hold them."""

from __future__ import annotations

from typing import Any

from neosian_site.admin import figures
from neosian_site.admin.listing import Asked, Cell, Listing, address, number
from neosian_site.core import clock, sql

_MOST = {"most": figures.CAP + 1}

# Each LATERAL reads what one row shown holds, no further than the bound and in an index's order (see
# ``figures.bounded``). A content's length is known without reading the content.
_SCOPE_FIGURES = """
    SELECT k.place, d.documents, d.redacted, d.bytes, v.versions, v.bytes
    FROM unnest(%(projects)s::bigint[], %(names)s::text[]) WITH ORDINALITY AS k(project_id, name, place)
    CROSS JOIN LATERAL (
        SELECT count(*) AS documents, count(*) FILTER (WHERE redacted) AS redacted,
               coalesce(sum(octet_length(content)), 0)::bigint AS bytes
        FROM (
            SELECT redacted, content FROM memory_document d
            WHERE d.project_id = k.project_id AND d.scope = k.name AND d.live ORDER BY d.path LIMIT %(most)s
        ) c
    ) d
    CROSS JOIN LATERAL (
        SELECT count(*) AS versions, coalesce(sum(octet_length(content)), 0)::bigint AS bytes
        FROM (
            SELECT content FROM memory_documentversion v
            WHERE v.project_id = k.project_id AND v.scope = k.name ORDER BY v.path, v.version LIMIT %(most)s
        ) c
    ) v
    ORDER BY k.place
"""

_CONVERSATION_FIGURES = """
    SELECT k.place, t.turns, t.redacted, t.bytes, p.projections, p.bytes
    FROM unnest(%(projects)s::bigint[], %(names)s::text[]) WITH ORDINALITY AS k(project_id, name, place)
    CROSS JOIN LATERAL (
        SELECT count(*) AS turns, count(*) FILTER (WHERE redacted) AS redacted,
               coalesce(sum(pg_column_size(messages)) FILTER (WHERE NOT redacted), 0)::bigint AS bytes
        FROM (
            SELECT redacted, messages FROM conversations_turn t
            WHERE t.project_id = k.project_id AND t.conversation = k.name ORDER BY t.turn LIMIT %(most)s
        ) c
    ) t
    CROSS JOIN LATERAL (
        SELECT count(*) AS projections, coalesce(sum(octet_length(text)), 0)::bigint AS bytes
        FROM (
            SELECT text FROM conversations_projection p
            WHERE p.project_id = k.project_id AND p.conversation = k.name ORDER BY p.position LIMIT %(most)s
        ) c
    ) p
    ORDER BY k.place
"""

_VERSIONS = """
    SELECT k.place, v.versions
    FROM unnest(%(paths)s::text[]) WITH ORDINALITY AS k(path, place)
    CROSS JOIN LATERAL (
        SELECT count(*) AS versions FROM (
            SELECT 1 FROM memory_documentversion v
            WHERE v.project_id = %(project)s AND v.scope = %(scope)s AND v.path = k.path
            ORDER BY v.version LIMIT %(most)s
        ) c
    ) v
    ORDER BY k.place
"""


def _measured(statement: str, found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The statement's figures of each row found, in their order; each row's key is its project and its name."""
    params = {"projects": [row["key0"] for row in found], "names": [row["key1"] for row in found], **_MOST}
    return [row[1:] for row in sql.rows(statement, params)]


def _size(count: int, amount: int) -> Cell:
    # Beyond the bound neither the rows nor their bytes were counted to the end.
    return number(f"{figures.size(amount)}+" if count > figures.CAP else figures.size(amount))


def _project(row: dict[str, Any]) -> Cell:
    return Cell(row["slug"] or "", address("authz_project_change", args=(row["key0"],)))


class Scopes(Listing):
    name, path, app = "scopes", "memory/scopes/", "memory"
    title = "Scopes"
    help = "Bytes are those of contents: of the documents as they stand, and of every kept version."
    permission = "memory.view_scope"
    headings = ("Project", "Scope", "Documents", "of them redacted", "Bytes", "Versions", "Their bytes",
                "Acts of erasure", "Since")  # fmt: skip
    source = "memory_scope s"
    columns = ("s.acts", "s.created_at")
    key, kinds = ("s.project_id", "s.name"), (int, str)
    project_column = "s.project_id"
    prefix = ("prefix", "Scope", "s.name")

    def rows(self, asked: Asked, found: list[dict[str, Any]]) -> list[list[Cell]]:
        cells = []
        for row, figure in zip(found, _measured(_SCOPE_FIGURES, found), strict=True):
            documents, redacted, held, versions, kept = figure
            acts = address("redactions", project=row["slug"], prefix=row["key1"])
            cells.append(
                [
                    _project(row),
                    Cell(row["key1"], address("documents", project=row["slug"], scope=row["key1"])),
                    number(figures.shown(documents)),
                    number(figures.shown(redacted)),
                    _size(documents, held),
                    number(figures.shown(versions)),
                    _size(versions, kept),
                    Cell(f"{row['acts']:,}", acts, number=True),
                    Cell(clock.render(row["created_at"])),
                ]
            )
        return cells


class Documents(Listing):
    name, path, app = "documents", "memory/documents/", "memory"
    title = "Documents of a scope"
    help = "Live documents by path, redacted ones too. What they say is not shown here."
    permission = "memory.view_document"
    in_menu = False
    headings = ("Path", "Version", "Kept versions", "Bytes", "State", "Review", "Created", "Updated")
    source = "memory_document d"
    columns = ("d.version", "octet_length(d.content) AS bytes", "d.redacted", "d.governance", "d.created_at",
               "d.updated_at")  # fmt: skip
    key, kinds = ("d.path",), (str,)
    project_column = "d.project_id"
    whole = ("scope", "Scope", "d.scope")
    prefix = ("prefix", "Path", "d.path")

    def _judge(self, asked: Asked) -> None:
        super()._judge(asked)
        asked.conditions.append("d.live")

    def tools(self, asked: Asked) -> list[tuple[str, str]]:
        where = {"project": asked.values["project"], "scope": asked.values["scope"]}
        return [("Change feed", address("stream", **where))]

    def rows(self, asked: Asked, found: list[dict[str, Any]]) -> list[list[Cell]]:
        params = {
            "project": asked.params["project"],
            "scope": asked.params["whole"],
            "paths": [row["key0"] for row in found],
            **_MOST,
        }
        kept = [row[1] for row in sql.rows(_VERSIONS, params)]
        return [
            [
                Cell(row["key0"]),
                number(row["version"]),
                number(figures.shown(versions)),
                number(figures.size(row["bytes"])),
                Cell("redacted" if row["redacted"] else "live"),
                Cell(row["governance"]),
                Cell(clock.render(row["created_at"])),
                Cell(clock.render(row["updated_at"])),
            ]
            for row, versions in zip(found, kept, strict=True)
        ]


class Redactions(Listing):
    name, path, app = "redactions", "memory/redactions/", "memory"
    title = "Document redactions"
    help = "Every act of erasing documents, scope by scope in its order. No path: the whole scope."
    permission = "memory.view_redaction"
    headings = ("Project", "Scope", "Act", "Path", "Matched", "By", "At")
    source = "memory_redaction r"
    columns = ("r.path", "r.count", "r.actor", "r.created_at")
    key, kinds = ("r.project_id", "r.scope", "r.position"), (int, str, int)
    project_column = "r.project_id"
    prefix = ("prefix", "Scope", "r.scope")

    def rows(self, asked: Asked, found: list[dict[str, Any]]) -> list[list[Cell]]:
        return [
            [
                _project(row),
                Cell(row["key1"], address("documents", project=row["slug"], scope=row["key1"])),
                number(row["key2"]),
                Cell("(the whole scope)" if row["path"] is None else row["path"]),
                number(row["count"]),
                Cell(row["actor"] or "(not known)"),
                Cell(clock.render(row["created_at"])),
            ]
            for row in found
        ]


class Conversations(Listing):
    name, path, app = "conversations", "conversations/conversations/", "conversations"
    title = "Conversations"
    help = "Bytes of messages are those they take in the table (long ones are compressed)."
    permission = "conversations.view_conversation"
    headings = ("Project", "Conversation", "Last turn", "Turns", "of them redacted", "Bytes", "Projections",
                "Their bytes", "Acts of erasure", "Since")  # fmt: skip
    source = "conversations_conversation c"
    columns = ("c.last_turn", "c.acts", "c.created_at")
    key, kinds = ("c.project_id", "c.id"), (int, str)
    project_column = "c.project_id"
    prefix = ("prefix", "Conversation", "c.id")

    def rows(self, asked: Asked, found: list[dict[str, Any]]) -> list[list[Cell]]:
        cells = []
        for row, figure in zip(found, _measured(_CONVERSATION_FIGURES, found), strict=True):
            turns, redacted, said, projections, projected = figure
            acts = address("turn_redactions", project=row["slug"], prefix=row["key1"])
            cells.append(
                [
                    _project(row),
                    Cell(row["key1"], address("turns", project=row["slug"], conversation=row["key1"])),
                    number(row["last_turn"]),
                    number(figures.shown(turns)),
                    number(figures.shown(redacted)),
                    _size(turns, said),
                    number(figures.shown(projections)),
                    _size(projections, projected),
                    Cell(f"{row['acts']:,}", acts, number=True),
                    Cell(clock.render(row["created_at"])),
                ]
            )
        return cells


class Turns(Listing):
    name, path, app = "turns", "conversations/turns/", "conversations"
    title = "Turns of a conversation"
    help = "By number, redacted ones too; bytes as they take in the table. What they say is not shown here."
    permission = "conversations.view_turn"
    in_menu = False
    headings = ("Turn", "Bytes", "State", "At")
    source = "conversations_turn t"
    columns = ("pg_column_size(t.messages) AS bytes", "t.redacted", "t.created_at")
    key, kinds = ("t.turn",), (int,)
    project_column = "t.project_id"
    whole = ("conversation", "Conversation", "t.conversation")

    def rows(self, asked: Asked, found: list[dict[str, Any]]) -> list[list[Cell]]:
        return [
            [
                number(row["key0"]),
                number("" if row["redacted"] else figures.size(row["bytes"])),
                Cell("redacted" if row["redacted"] else "live"),
                Cell(clock.render(row["created_at"])),
            ]
            for row in found
        ]


class TurnRedactions(Listing):
    name, path, app = "turn_redactions", "conversations/redactions/", "conversations"
    title = "Turn redactions"
    help = "Every act of blanking turns, conversation by conversation in its order."
    permission = "conversations.view_turnredaction"
    headings = ("Project", "Conversation", "Act", "Matched", "Turns", "By", "At")
    source = "conversations_turnredaction r"
    # An act may have matched a hundred thousand.
    columns = ("cardinality(r.turns) AS matched", "r.turns[1:20] AS some", "r.actor", "r.created_at")
    key, kinds = ("r.project_id", "r.conversation", "r.position"), (int, str, int)
    project_column = "r.project_id"
    prefix = ("prefix", "Conversation", "r.conversation")

    def rows(self, asked: Asked, found: list[dict[str, Any]]) -> list[list[Cell]]:
        return [
            [
                _project(row),
                Cell(row["key1"], address("turns", project=row["slug"], conversation=row["key1"])),
                number(row["key2"]),
                number(row["matched"]),
                Cell(", ".join(map(str, row["some"])) + (" …" if row["matched"] > len(row["some"]) else "")),
                Cell(row["actor"] or "(not known)"),
                Cell(clock.render(row["created_at"])),
            ]
            for row in found
        ]
