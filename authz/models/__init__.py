from authz.models.client import ApiToken
from authz.models.project import Project

__all__ = ["ApiToken", "Project"]
