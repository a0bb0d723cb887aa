from django.db import migrations

CREATE = """
    CREATE FUNCTION authz_events_only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'rows of authz_authzevent are never changed or removed' USING ERRCODE = 'integrity_constraint_violation';
    END $$;
    CREATE TRIGGER authzevent_only_grows BEFORE UPDATE OR DELETE ON authz_authzevent
        FOR EACH ROW EXECUTE FUNCTION authz_events_only_grow();
"""
DROP = """
    DROP TRIGGER authzevent_only_grows ON authz_authzevent;
    DROP FUNCTION authz_events_only_grow();
"""


class Migration(migrations.Migration):

    dependencies = [("authz", "0002_grants")]

    operations = [migrations.RunSQL(CREATE, DROP)]
