"""Django's PostgreSQL engine with connections that heal (``DATABASES`` names this package; see ``base``)."""
