
import django.contrib.postgres.indexes
from django.contrib.postgres.operations import BtreeGinExtension
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('authz', '0002_grants'),
        ('conversations', '0001_initial'),
    ]

    operations = [
        BtreeGinExtension(),
        migrations.RemoveIndex(
            model_name='turn',
            name='turn_search_trgm',
        ),
        migrations.AddIndex(
            model_name='turn',
            index=django.contrib.postgres.indexes.GinIndex(models.F('project'), django.contrib.postgres.indexes.OpClass(models.F('search_text'), name='gin_trgm_ops'), name='turn_search_trgm', gin_pending_list_limit=1024),
        ),
    ]
