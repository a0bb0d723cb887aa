"""``/v1/store/*``: whole-store portability."""

from __future__ import annotations

from authz.caller import Caller
from conversations.archive import ConversationArchive
from conversations.operations import store as conversation_store
from memory.archive import ScopeArchive
from memory.operations import store as scope_store
from neosian_site.api.wire import auth, render, requests
from neosian_site.api.wire.view import WireView


class StoreView(WireView):
    need = auth.WHOLE_STORE


class Scopes(StoreView):
    request_model = requests.Nothing

    def answer(self, caller: Caller, asked: requests.Nothing) -> bytes:
        return render.plain("scopes", scope_store.scopes(caller))


class Conversations(StoreView):
    request_model = requests.Nothing

    def answer(self, caller: Caller, asked: requests.Nothing) -> bytes:
        return render.plain("conversations", conversation_store.conversations(caller))


class RestoreScope(StoreView):
    request_model = requests.RestoreScope

    def answer(self, caller: Caller, asked: requests.RestoreScope) -> bytes:
        scope_store.restore_scope(
            caller,
            scope=asked.scope,
            archive=ScopeArchive(asked.documents, asked.versions, asked.redactions),
        )
        return render.EMPTY


class RestoreConversation(StoreView):
    request_model = requests.RestoreConversation

    def answer(self, caller: Caller, asked: requests.RestoreConversation) -> bytes:
        conversation_store.restore_conversation(
            caller,
            conversation_id=asked.conversation_id,
            archive=ConversationArchive(asked.turns, asked.projections, asked.redactions or []),
        )
        return render.EMPTY
