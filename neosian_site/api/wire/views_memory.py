"""``/v1/memory/*``."""

from __future__ import annotations

from authz.caller import Caller
from memory.operations import changes, documents, ledger, redaction
from neosian_site.api.wire import auth, optional_requests, render, requests
from neosian_site.api.wire.view import WireView
from search.operations import documents as document_search


class Reading(WireView):
    need = auth.READ_SCOPE


class Writing(WireView):
    need = auth.WRITE_SCOPE


class Erasing(WireView):
    need = auth.ERASE_SCOPE


class Read(Reading):
    request_model = requests.Document

    def answer(self, caller: Caller, asked: requests.Document) -> bytes:
        return render.one("document", documents.read(caller, scope=asked.scope, path=asked.path))


class Write(Writing):
    request_model = requests.Write

    def answer(self, caller: Caller, asked: requests.Write) -> bytes:
        return render.one("document", documents.write(caller, **dict(asked)))


class Delete(Writing):
    request_model = requests.Delete

    def answer(self, caller: Caller, asked: requests.Delete) -> bytes:
        return render.plain("deleted", documents.delete(caller, **dict(asked)))


class Rename(Writing):
    request_model = requests.Rename

    def answer(self, caller: Caller, asked: requests.Rename) -> bytes:
        return render.one("document", documents.rename(caller, **dict(asked)))


class ListDocuments(Reading):
    request_model = requests.ListDocuments

    def answer(self, caller: Caller, asked: requests.ListDocuments) -> bytes:
        return render.page("entries", documents.list_documents(caller, **dict(asked)))


class Versions(Reading):
    request_model = requests.Versions

    def answer(self, caller: Caller, asked: requests.Versions) -> bytes:
        return render.page("versions", ledger.versions(caller, **dict(asked)))


class Redact(Erasing):
    request_model = requests.Redact

    def answer(self, caller: Caller, asked: requests.Redact) -> bytes:
        return render.plain("count", redaction.redact(caller, **dict(asked)))


class History(Reading):
    request_model = requests.Ledger

    def answer(self, caller: Caller, asked: requests.Ledger) -> bytes:
        return render.page("versions", ledger.history(caller, **dict(asked)))


class Redactions(Reading):
    request_model = requests.Ledger

    def answer(self, caller: Caller, asked: requests.Ledger) -> bytes:
        return render.page("redactions", ledger.redactions(caller, **dict(asked)))


class Search(Reading):
    request_model = optional_requests.Search

    def answer(self, caller: Caller, asked: optional_requests.Search) -> bytes:
        return render.search_page(document_search.search(caller, **dict(asked)))


class Changes(Reading):
    request_model = optional_requests.Changes

    def answer(self, caller: Caller, asked: optional_requests.Changes) -> bytes:
        return render.changes(changes.read(caller, **dict(asked)))


class PruneChanges(Erasing):
    request_model = optional_requests.PruneChanges

    def answer(self, caller: Caller, asked: optional_requests.PruneChanges) -> bytes:
        return render.pruned(changes.prune(caller, **dict(asked)))
