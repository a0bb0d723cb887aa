"""Django's PostgreSQL engine with connections that heal (see ``base``)."""
