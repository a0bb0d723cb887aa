
import django.contrib.postgres.fields
import django.db.models.deletion
import neosian_site.core.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('authz', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuthzEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('by', models.TextField()),
                ('subject', models.TextField()),
                ('before', models.JSONField(null=True)),
                ('after', models.JSONField(null=True)),
            ],
            options={
                'verbose_name': 'access change',
            },
        ),
        migrations.CreateModel(
            name='ConversationGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('prefix', neosian_site.core.fields.ByteOrderedField(blank=True, null=True)),
                ('ids', django.contrib.postgres.fields.ArrayField(base_field=neosian_site.core.fields.ByteOrderedField(), blank=True, null=True, size=None)),
                ('read', models.BooleanField(default=False)),
                ('append', models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name='GrantClient',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('actor', neosian_site.core.fields.ByteOrderedField()),
                ('operator', models.BooleanField(default=False, help_text='May erase, prune, enumerate and restore. For trusted administrators only.')),
            ],
            options={
                'verbose_name': 'grant',
            },
        ),
        migrations.CreateModel(
            name='ScopeGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scope', neosian_site.core.fields.ByteOrderedField()),
                ('read', models.BooleanField(default=False)),
                ('write', models.BooleanField(default=False)),
            ],
        ),
        migrations.AddField(
            model_name='apitoken',
            name='suspended_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='project',
            name='access',
            field=models.TextField(choices=[('open', 'open'), ('scoped', 'scoped by grants')], db_default='open', default='open'),
        ),
        migrations.AddConstraint(
            model_name='project',
            constraint=models.CheckConstraint(condition=models.Q(('access__in', ['open', 'scoped'])), name='project_access_known'),
        ),
        migrations.AddField(
            model_name='authzevent',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='authz_events', to='authz.project'),
        ),
        migrations.AddField(
            model_name='grantclient',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='grant_clients', to='authz.project'),
        ),
        migrations.AddField(
            model_name='conversationgrant',
            name='client',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to='authz.grantclient'),
        ),
        migrations.AddField(
            model_name='scopegrant',
            name='client',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scopes', to='authz.grantclient'),
        ),
        migrations.AddIndex(
            model_name='authzevent',
            index=models.Index(fields=['project', '-at', '-id'], name='authzevent_newest'),
        ),
        migrations.AddConstraint(
            model_name='grantclient',
            constraint=models.UniqueConstraint(fields=('project', 'actor'), name='grantclient_actor_uniq'),
        ),
        migrations.AddConstraint(
            model_name='conversationgrant',
            constraint=models.UniqueConstraint(fields=('client', 'prefix'), name='conversationgrant_prefix_uniq'),
        ),
        migrations.AddConstraint(
            model_name='conversationgrant',
            constraint=models.CheckConstraint(condition=models.Q(('prefix__isnull', True), ('ids__isnull', True), _connector='XOR'), name='conversationgrant_prefix_or_ids'),
        ),
        migrations.AddConstraint(
            model_name='conversationgrant',
            constraint=models.CheckConstraint(condition=models.Q(('ids__isnull', True), ('ids__len__gte', 1), _connector='OR'), name='conversationgrant_ids_not_empty'),
        ),
        migrations.AddConstraint(
            model_name='scopegrant',
            constraint=models.UniqueConstraint(fields=('client', 'scope'), name='scopegrant_scope_uniq'),
        ),
    ]
