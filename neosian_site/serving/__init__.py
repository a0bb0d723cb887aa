"""How gunicorn serves this product. Imports gunicorn and the standard library only."""
