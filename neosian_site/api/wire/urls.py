"""The routes of wire 6. Anything else is no route, with a token or without."""

from __future__ import annotations

from django.urls import path, re_path

from neosian_site.api.wire import views_conversation as conversation
from neosian_site.api.wire import views_memory as memory
from neosian_site.api.wire import views_store as store
from neosian_site.api.wire.view import WireView
from neosian_site.api.wire.views_service import Capabilities, NoRoute

ROUTES: dict[str, type[WireView]] = {
    "memory/read": memory.Read,
    "memory/write": memory.Write,
    "memory/delete": memory.Delete,
    "memory/rename": memory.Rename,
    "memory/list_documents": memory.ListDocuments,
    "memory/versions": memory.Versions,
    "memory/redact": memory.Redact,
    "memory/history": memory.History,
    "memory/redactions": memory.Redactions,
    "memory/search": memory.Search,
    "memory/changes": memory.Changes,
    "memory/prune_changes": memory.PruneChanges,
    "conversation/append_turn": conversation.AppendTurn,
    "conversation/read_turns": conversation.ReadTurns,
    "conversation/last_turn_number": conversation.LastTurnNumber,
    "conversation/search_turns": conversation.SearchTurns,
    "conversation/append_projections": conversation.AppendProjections,
    "conversation/read_projections": conversation.ReadProjections,
    "conversation/redact_turns": conversation.RedactTurns,
    "conversation/turn_redactions": conversation.TurnRedactions,
    "store/scopes": store.Scopes,
    "store/conversations": store.Conversations,
    "store/restore_scope": store.RestoreScope,
    "store/restore_conversation": store.RestoreConversation,
}

routes = [
    path("v1/capabilities", Capabilities.as_view()),
    *(path(f"v1/{name}", view.as_view(), name=name) for name, view in ROUTES.items()),
]
urlpatterns = [*routes, re_path("", NoRoute.as_view())]
