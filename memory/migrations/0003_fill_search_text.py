"""What a search reads, for documents written before there was one."""

from django.db import migrations, transaction

BATCH = 500
# Longer documents are filled one by one: a batch of them need not fit in memory.
SMALL_BYTES = 64 * 1024

_KEYS = """
    SELECT project_id, scope, path, octet_length(content) <= %s FROM memory_document
    WHERE (project_id, scope, path) > (%s, %s, %s) AND live AND NOT redacted
    ORDER BY project_id, scope, path LIMIT %s
"""
_CONTENT = """
    SELECT d.project_id, d.scope, d.path, d.content
    FROM memory_document d
    JOIN unnest(%s::bigint[], %s::text[], %s::text[]) AS k (project_id, scope, path)
      ON d.project_id = k.project_id AND d.scope = k.scope AND d.path = k.path
    WHERE d.live AND NOT d.redacted FOR UPDATE OF d
"""
_FILL = """
    UPDATE memory_document SET search_text = %s, governance = %s, effective_at = %s, expires_at = %s
    WHERE project_id = %s AND scope = %s AND path = %s
"""


def fill(apps, schema_editor):
    connection = schema_editor.connection
    after = (0, "", "")
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_KEYS, [SMALL_BYTES, *after, BATCH])
            keys = cursor.fetchall()
        if not keys:
            return
        _fill(connection, [key[:3] for key in keys if key[3]])
        for key in keys:
            if not key[3]:
                _fill(connection, [key[:3]])
        after = keys[-1][:3]


def _fill(connection, keys):
    # The functions of today: a later release that folds or judges otherwise brings a migration of its own.
    from memory.operations.finding import restored_as

    if not keys:
        return
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute(_CONTENT, [list(column) for column in zip(*keys, strict=True)])
        cursor.executemany(
            _FILL,
            [
                [*restored_as(path, content, redacted=False), project_id, scope, path]
                for project_id, scope, path, content in cursor.fetchall()
            ],
        )


class Migration(migrations.Migration):
    # Committed batch by batch; a run that was broken off starts again and changes nothing that is filled.
    atomic = False

    dependencies = [("memory", "0002_changes_and_search")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
