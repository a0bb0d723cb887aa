from authz.models.client import ApiToken
from authz.models.grants import AuthzEvent, ConversationGrant, GrantClient, ScopeGrant
from authz.models.project import Project

__all__ = ["ApiToken", "AuthzEvent", "ConversationGrant", "GrantClient", "Project", "ScopeGrant"]
