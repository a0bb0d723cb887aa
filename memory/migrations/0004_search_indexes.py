
import django.contrib.postgres.indexes
import django.db.models.lookups
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('authz', '0002_grants'),
        ('memory', '0003_fill_search_text'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='document',
            index=models.Index(condition=models.Q(('search_text', ''), _negated=True), fields=['project', 'scope', 'path'], name='document_searched'),
        ),
        migrations.AddIndex(
            model_name='document',
            index=django.contrib.postgres.indexes.GinIndex(models.F('project'), models.F('scope'), django.contrib.postgres.indexes.OpClass(models.F('search_text'), name='gin_trgm_ops'), condition=models.Q(models.Q(('search_text', ''), _negated=True), django.db.models.lookups.LessThanOrEqual(models.Func(models.F('search_text'), function='octet_length', output_field=models.IntegerField()), 1048576)), name='document_search_trgm', gin_pending_list_limit=1024),
        ),
        migrations.AddIndex(
            model_name='document',
            index=models.Index(condition=models.Q(django.db.models.lookups.GreaterThan(models.Func(models.F('search_text'), function='octet_length', output_field=models.IntegerField()), 1048576)), fields=['project', 'scope', 'path'], name='document_search_long'),
        ),
        migrations.AddConstraint(
            model_name='document',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('live', True), ('redacted', False)), ('search_text', ''), _connector='OR'), name='document_blank_is_not_found'),
        ),
    ]
