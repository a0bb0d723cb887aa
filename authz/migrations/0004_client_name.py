
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('authz', '0003_events_only_grow'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='apitoken',
            options={'verbose_name': 'client'},
        ),
    ]
