"""``/v1/memory/*``."""

from __future__ import annotations

from authz.caller import Caller
from memory.operations import documents, ledger, redaction
from neosian_site.api.wire import render, requests
from neosian_site.api.wire.view import WireView


class MemoryView(WireView):
    reach = "scope"


class Read(MemoryView):
    request_model = requests.Document

    def answer(self, caller: Caller, asked: requests.Document) -> bytes:
        return render.one("document", documents.read(caller, scope=asked.scope, path=asked.path))


class Write(MemoryView):
    request_model = requests.Write

    def answer(self, caller: Caller, asked: requests.Write) -> bytes:
        return render.one("document", documents.write(caller, **dict(asked)))


class Delete(MemoryView):
    request_model = requests.Delete

    def answer(self, caller: Caller, asked: requests.Delete) -> bytes:
        return render.plain("deleted", documents.delete(caller, **dict(asked)))


class Rename(MemoryView):
    request_model = requests.Rename

    def answer(self, caller: Caller, asked: requests.Rename) -> bytes:
        return render.one("document", documents.rename(caller, **dict(asked)))


class ListDocuments(MemoryView):
    request_model = requests.ListDocuments

    def answer(self, caller: Caller, asked: requests.ListDocuments) -> bytes:
        return render.page("entries", documents.list_documents(caller, **dict(asked)))


class Versions(MemoryView):
    request_model = requests.Versions

    def answer(self, caller: Caller, asked: requests.Versions) -> bytes:
        return render.page("versions", ledger.versions(caller, **dict(asked)))


class Redact(MemoryView):
    request_model = requests.Redact

    def answer(self, caller: Caller, asked: requests.Redact) -> bytes:
        return render.plain("count", redaction.redact(caller, **dict(asked)))


class History(MemoryView):
    request_model = requests.Ledger

    def answer(self, caller: Caller, asked: requests.Ledger) -> bytes:
        return render.page("versions", ledger.history(caller, **dict(asked)))


class Redactions(MemoryView):
    request_model = requests.Ledger

    def answer(self, caller: Caller, asked: requests.Ledger) -> bytes:
        return render.page("redactions", ledger.redactions(caller, **dict(asked)))
