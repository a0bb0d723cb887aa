"""``/v1/conversation/*``."""

from __future__ import annotations

from authz.caller import Caller
from conversations.operations import projections, redaction, turns
from neosian_site.api.wire import auth, render, requests
from neosian_site.api.wire.view import WireView
from search.operations import turns as turn_search


class Reading(WireView):
    need = auth.READ_CONVERSATION


class Appending(WireView):
    need = auth.APPEND_CONVERSATION


class AppendTurn(Appending):
    request_model = requests.AppendTurn

    def answer(self, caller: Caller, asked: requests.AppendTurn) -> bytes:
        return render.one("turn", turns.append(caller, **dict(asked)))


class ReadTurns(Reading):
    request_model = requests.ReadConversation

    def answer(self, caller: Caller, asked: requests.ReadConversation) -> bytes:
        return render.numbered_page("turns", turns.read(caller, **dict(asked)))


class LastTurnNumber(Reading):
    request_model = requests.Conversation

    def answer(self, caller: Caller, asked: requests.Conversation) -> bytes:
        return render.plain("turn", turns.last_number(caller, **dict(asked)))


class SearchTurns(WireView):
    need = auth.READ_CONVERSATIONS
    request_model = requests.SearchTurns

    def answer(self, caller: Caller, asked: requests.SearchTurns) -> bytes:
        return render.many("turns", turn_search.search(caller, **dict(asked)))


class AppendProjections(Appending):
    request_model = requests.AppendProjections

    def answer(self, caller: Caller, asked: requests.AppendProjections) -> bytes:
        projections.append(caller, **dict(asked))
        return render.EMPTY


class ReadProjections(Reading):
    request_model = requests.ReadConversation

    def answer(self, caller: Caller, asked: requests.ReadConversation) -> bytes:
        return render.numbered_page("entries", projections.read(caller, **dict(asked)))


class RedactTurns(WireView):
    need = auth.ERASE_CONVERSATION
    request_model = requests.RedactTurns

    def answer(self, caller: Caller, asked: requests.RedactTurns) -> bytes:
        return render.plain("count", redaction.redact(caller, **dict(asked)))


class TurnRedactions(WireView):
    need = auth.READ_CONVERSATIONS
    request_model = requests.TurnRedactions

    def answer(self, caller: Caller, asked: requests.TurnRedactions) -> bytes:
        return render.many("redactions", redaction.trail(caller, **dict(asked)))
