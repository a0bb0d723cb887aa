
import django.db.models.deletion
import django.db.models.expressions
import neosian_site.core.fields
from django.contrib.postgres.operations import BtreeGinExtension, TrigramExtension
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('authz', '0002_grants'),
        ('memory', '0001_initial'),
    ]

    operations = [
        TrigramExtension(),
        BtreeGinExtension(),
        # One number at a time (no CACHE): ascending numbers are the order in which they were taken, on every connection.
        migrations.RunSQL(
            "CREATE SEQUENCE memory_change_arrival AS bigint CACHE 1", "DROP SEQUENCE memory_change_arrival"
        ),
        migrations.CreateModel(
            name='ChangeEvent',
            fields=[
                ('scope', neosian_site.core.fields.ByteOrderedField()),
                ('kind', models.TextField()),
                ('path', neosian_site.core.fields.ByteOrderedField(null=True)),
                ('version', models.BigIntegerField(null=True)),
                ('previous_path', neosian_site.core.fields.ByteOrderedField(null=True)),
                ('previous_version', models.BigIntegerField(null=True)),
                ('actor', models.TextField(null=True)),
                ('count', models.BigIntegerField(null=True)),
                ('recorded_at', models.DateTimeField()),
                ('pk', models.CompositePrimaryKey('project_id', 'scope', 'sequence', blank=True, editable=False, primary_key=True, serialize=False)),
                ('sequence', models.BigIntegerField()),
                ('project', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='authz.project')),
            ],
            options={
                'db_table': 'memory_changeevent',
            },
        ),
        migrations.CreateModel(
            name='PendingChange',
            fields=[
                ('scope', neosian_site.core.fields.ByteOrderedField()),
                ('kind', models.TextField()),
                ('path', neosian_site.core.fields.ByteOrderedField(null=True)),
                ('version', models.BigIntegerField(null=True)),
                ('previous_path', neosian_site.core.fields.ByteOrderedField(null=True)),
                ('previous_version', models.BigIntegerField(null=True)),
                ('actor', models.TextField(null=True)),
                ('count', models.BigIntegerField(null=True)),
                ('recorded_at', models.DateTimeField()),
                ('pk', models.CompositePrimaryKey('project_id', 'scope', 'arrival', blank=True, editable=False, primary_key=True, serialize=False)),
                ('arrival', models.BigIntegerField(db_default=django.db.models.expressions.RawSQL("nextval('memory_change_arrival')", ()))),
                ('project', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, to='authz.project')),
            ],
            options={
                'db_table': 'memory_pendingchange',
            },
        ),
        # A document of a kilobyte and its folded copy stay in the row: written, read and searched without a detour.
        migrations.RunSQL(
            "ALTER TABLE memory_document SET (toast_tuple_target = 4080)",
            "ALTER TABLE memory_document RESET (toast_tuple_target)",
        ),
        migrations.AddField(
            model_name='document',
            name='effective_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='document',
            name='expires_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='document',
            name='governance',
            field=models.TextField(db_default='unmanaged', default='unmanaged'),
        ),
        migrations.AddField(
            model_name='document',
            name='search_text',
            field=models.TextField(db_collation='C', db_default='', default=''),
        ),
        migrations.AddField(
            model_name='scope',
            name='floor',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='scope',
            name='head',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='scope',
            name='origin',
            field=models.TextField(null=True),
        ),
        migrations.AddField(
            model_name='scope',
            name='stream',
            field=models.UUIDField(null=True),
        ),
        migrations.AddConstraint(
            model_name='scope',
            constraint=models.CheckConstraint(condition=models.Q(('floor__gte', 0), ('head__gte', models.F('floor'))), name='scope_floor_below_head'),
        ),
        migrations.AddConstraint(
            model_name='scope',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('head', 0), ('origin__isnull', True), ('stream__isnull', True)), models.Q(('origin__in', ['empty', 'untracked', 'restored']), ('stream__isnull', False)), _connector='OR'), name='scope_stream_has_origin'),
        ),
        migrations.AddConstraint(
            model_name='changeevent',
            constraint=models.CheckConstraint(condition=models.Q(('sequence__gte', 1)), name='changeevent_sequence_from_one'),
        ),
        migrations.AddConstraint(
            model_name='changeevent',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['created', 'modified', 'renamed', 'deleted', 'erased'])), name='changeevent_kind_known'),
        ),
    ]
