"""The admin at ``/admin/``: for operators, to look and to decide who may do what. It never shows what is stored."""
