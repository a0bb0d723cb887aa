"""What is stored, and what opens the door, is on no page; what people typed is text."""

from __future__ import annotations

import hashlib

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session

from authz.grants import ClientEntry, ConversationGrant, ScopeGrant
from authz.models import ApiToken, AuthzEvent, Project
from authz.operations import clients, grants, projects
from tests.admin import rows

HOSTILE = [
    "<|endoftext|>",
    "</s>",
    "[INST]",
    "{{ 7|add:7 }}{% now 'Y' %}",
    "%s %d %(x)s",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE authz_project; --",
]
HIDDEN = "hidden-marker"


def texts() -> list[str]:
    return [f"{HIDDEN} {text}" for text in HOSTILE]


@pytest.fixture
def planted(wire, default) -> list[str]:
    """Fill every table with text no page may show; the tokens that were made."""
    for place, text in enumerate(texts()):
        wire.ok("memory/write", scope="user:a", path=f"p{place}", content=text, actor=f"{HIDDEN}-writer {text}")
        wire.ok("memory/write", scope="user:a", path=f"p{place}", content=f"again {text}")
        message = {
            "role": "assistant",
            "content": text,
            "tool_calls": [{"id": "t", "name": f"{HIDDEN}-tool", "arguments": {"q": text}}],
        }
        wire.ok("conversation/append_turn", conversation_id="c", messages=[message], actor=f"{HIDDEN}-sayer {text}")
        entry = {"turn": 1, "span": 1, "kind": "log", "text": text}
        wire.ok("conversation/append_projections", conversation_id="c", entries=[entry])
    wire.ok("memory/delete", scope="user:a", path="p0")
    wire.ok("memory/write", scope="user:a", path=f"{HIDDEN}-path", content="x")
    wire.ok("memory/delete", scope="user:a", path=f"{HIDDEN}-path")
    wire.ok("memory/redact", scope="user:a", path="p1", actor=f"trail {HOSTILE[5]}")
    wire.ok("conversation/redact_turns", conversation_id="c", turns=[1], actor=f"trail {HOSTILE[6]}")
    wire.ok("memory/changes", scope="user:a")
    projects.suspend(project=projects.create(slug="other", label=f"label {HOSTILE[5]} {HOSTILE[3]}"))
    issued = [clients.create(project=default, actor=f"client:{name}", scope_prefix="user:") for name in ("a", "b")]
    clients.revoke(project=default, actor="client:b", by=f"by {HOSTILE[5]}")
    entry = ClientEntry("client:a", True, (ScopeGrant("user:a", True),), (ConversationGrant("c", None, True),))
    grants.put(project=default, value=entry, by="command")
    return [one.token for one in issued]


def test_no_page_shows_what_is_stored_or_a_token(browser, planted):
    pages = browser.walk()
    assert {page.status for page in pages.values()} == {200}
    # It went everywhere: each kind of page is among them.
    for part in ("memory/documents/", "memory/redactions/", "changes/stream/", "conversations/turns/",
                 "conversations/redactions/", "/explained/", "/act/revoke/", "grantclient/", "authz/changes/",
                 "/delete/", "/history/"):  # fmt: skip
        assert any(part in url for url in pages), part
    secrets = [HIDDEN, "tok-default", "tok-ops", "tok-alice"]
    for token in planted:
        digest = hashlib.sha256(token.encode()).digest()
        secrets += [token, token[9:], digest.hex(), repr(digest)[2:-1]]
    for url, page in pages.items():
        for secret in secrets:
            assert secret not in page.html, (url, secret)


def test_what_people_typed_is_shown_as_text(browser, planted):
    pages = browser.walk()
    for url, page in pages.items():
        assert "<script>alert" not in page.html, url
        assert "<img src=x" not in page.html, url
        assert "img" not in page.tags or "onerror" not in page.html.split("<img", 1)[1].split(">")[0], url
    redactions = pages["/admin/memory/redactions/"]
    assert redactions.rows[0][5] == f"client:default/trail {HOSTILE[5]}"
    assert pages["/admin/conversations/redactions/"].rows[0][5] == f"client:default/trail {HOSTILE[6]}"
    other = Project.objects.get(slug="other")
    # As text: the template's own marks are not carried out.
    assert f"label {HOSTILE[5]} {HOSTILE[3]}" in pages[f"/admin/authz/project/{other.pk}/change/"].text
    assert any(row[3] == f"by {HOSTILE[5]}" for row in pages["/admin/authz/changes/"].rows)


def test_names_with_odd_characters_lead_to_their_own_rows(browser, wire):
    scopes = ["user:a.b", "user:a_b", "user:A-.", "user:a/project:..b", "user:a"]
    for scope in scopes:
        wire.ok("memory/write", scope=scope, path="a/b.c/...d/_", content=scope)
    for name in ("c.d", "c_d", "...", "C-"):
        wire.ok("conversation/append_turn", conversation_id=name, messages=[{"role": "user", "content": name}])
    listed = browser.get("/admin/memory/scopes/?project=default")
    assert [row[1] for row in listed.rows] == sorted(scopes)
    for link in [link for link in listed.links if "/documents/" in link]:
        page = browser.get(link)
        assert [row[0] for row in page.rows] == ["a/b.c/...d/_"]
        stream = browser.get(next(found for found in page.links if "/stream/" in found))
        assert stream.status == 200
        assert next(form for form in page.forms if "scope" in form.values).values["scope"] in stream.text
    conversations = browser.get("/admin/conversations/conversations/?project=default")
    for link in [link for link in conversations.links if "/turns/" in link]:
        assert [row[0] for row in browser.get(link).rows] == ["1"]


class TestATokenIsSeenOnce:
    def test_on_the_page_after_saving_and_nowhere_later(self, browser, default, caplog):
        caplog.set_level("DEBUG")
        page = browser.send(browser.get("/admin/authz/apitoken/add/"), project=default.pk, actor="client:new")
        client = ApiToken.objects.get()
        token = next(word for word in page.text.split() if word.startswith("ns_") and not word.endswith("…"))
        assert hashlib.sha256(token.encode()).digest() == bytes(client.token_sha256)
        assert page.html.count(token) == 1
        assert page.url == "/admin/authz/apitoken/add/"
        assert "no-store" in page.headers["cache-control"]
        for url, found in browser.walk().items():
            assert token not in found.html, url
            assert token not in url
        assert token not in str(browser.client.cookies)
        assert all(token not in str(session.get_decoded()) for session in Session.objects.all())
        assert all(token not in f"{entry.object_repr}{entry.change_message}" for entry in LogEntry.objects.all())
        assert all(token not in f"{event.before}{event.after}{event.subject}" for event in AuthzEvent.objects.all())
        assert token not in caplog.text
        assert LogEntry.objects.count() == AuthzEvent.objects.count() == 1

    def test_sending_the_form_again_makes_no_second_one(self, browser, default):
        add = browser.get("/admin/authz/apitoken/add/")
        browser.send(add, project=default.pk, actor="client:new")
        again = browser.send(add, project=default.pk, actor="client:new")
        assert "has a live client client:new already" in again.text
        assert "ns_" not in again.html
        assert ApiToken.objects.count() == AuthzEvent.objects.count() == 1


def test_a_page_of_clients_never_reads_a_digest(browser, default, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    made = rows.clients(default, 3)
    with CaptureQueriesContext(connection) as captured:
        for url in ("/admin/authz/apitoken/", f"/admin/authz/apitoken/{made[0].pk}/change/"):
            assert browser.get(url).status == 200
    assert all("token_sha256" not in query["sql"] for query in captured)
