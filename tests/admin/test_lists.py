"""The lists: complete, bounded, filtered literally, and no dearer for what they hold."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authz.models import Project
from memory.models import Scope
from neosian_site.admin import figures
from neosian_site.admin.filters import below
from neosian_site.admin.listing import PAGE_ROWS
from tests.admin import rows
from tests.admin.pages import Browser, Page

ROWS = 1_205


def following(page: Page) -> str | None:
    """The address of the next page, of a list of ours or of Django's."""
    return next((link for link in page.links if "after=" in link), None)


def whole(browser: Browser, url: str, column: int) -> list[str]:
    """One column of every page of one of our lists."""
    found: list[str] = []
    while url:
        page = browser.get(url)
        assert page.status == 200
        assert len(page.rows) <= PAGE_ROWS
        found += [row[column] for row in page.rows]
        url = following(page) or ""
    return found


def other(project: Project) -> Project:
    """A neighbour that holds rows of the same names."""
    return Project.objects.create(slug="neighbour", created_at=rows.AT)


# List, what makes its rows in a project, its filters, and which column tells rows apart.
LISTS: dict[str, tuple[str, Callable[..., None], dict[str, str], int]] = {
    "scopes": ("/admin/memory/scopes/", rows.scopes, {}, 1),
    "documents": (
        "/admin/memory/documents/",
        lambda project, count, start=0: rows.documents(project, "user:a", count, start),
        {"scope": "user:a"},
        0,
    ),
    "redactions": (
        "/admin/memory/redactions/",
        lambda project, count, start=0: rows.redactions(project, "user:a", count, start),
        {},
        2,
    ),
    "streams": ("/admin/memory/changes/", rows.scopes, {}, 1),
    "conversations": ("/admin/conversations/conversations/", rows.conversations, {}, 1),
    "turns": (
        "/admin/conversations/turns/",
        lambda project, count, start=0: rows.turns(project, "c-1", count, start),
        {"conversation": "c-1"},
        0,
    ),
    "turn redactions": (
        "/admin/conversations/redactions/",
        lambda project, count, start=0: rows.turn_redactions(project, "c-1", count, start),
        {},
        2,
    ),
    "access changes": ("/admin/authz/changes/", rows.events, {}, 2),
}


@pytest.mark.parametrize("name", LISTS)
def test_following_the_pages_shows_every_row_once_with_a_filter_on(browser, default, name):
    url, make, filters, column = LISTS[name]
    make(default, ROWS)
    make(other(default), 3)
    first = f"{url}?{urlencode({'project': 'default', **filters})}"
    found = whole(browser, first, column)
    assert len(found) == len(set(found)) == ROWS
    assert f"{ROWS:,} in this list" in browser.get(first).text


@pytest.mark.parametrize("name", [name for name, (_, _, filters, _) in LISTS.items() if not filters])
def test_without_a_filter_the_rows_of_every_project_are_there(browser, default, name):
    url, make, _, _ = LISTS[name]
    make(default, 30)
    make(other(default), 30)
    page = browser.get(url)
    assert "60 in this list" in page.text
    assert len(page.rows) == PAGE_ROWS
    places = []
    while page:
        places += [(row[0], row[1], row[2]) for row in page.rows]
        page = browser.get(following(page)) if following(page) else None
    assert len(places) == len(set(places)) == 60


@pytest.mark.parametrize("name", LISTS)
def test_a_page_costs_as_many_statements_whatever_it_holds(browser, default, name):
    url, make, filters, _ = LISTS[name]
    url = f"{url}?{urlencode({'project': 'default', **filters})}"

    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(url).status == 200
        return len(captured)

    make(default, 2)
    few = statements()
    make(default, 200, 2)
    # Who is logged in (2), the project, the rows, their number; and the figures of the rows where there are any.
    assert few == statements() <= 6


def test_a_prefix_is_literal_and_by_bytes(browser, default):
    names = ["user:a", "user:a.b", "user:a_b", "user:ab", "user:A", "user:aXb", "user:b", "team:a"]
    Scope.objects.bulk_create(Scope(project=default, name=name, created_at=rows.AT) for name in names)

    def found(prefix: str) -> list[str]:
        page = browser.get(f"/admin/memory/scopes/?{urlencode({'project': 'default', 'prefix': prefix})}")
        return [row[1] for row in page.rows if len(row) > 1]

    assert found("user:a") == ["user:a", "user:a.b", "user:aXb", "user:a_b", "user:ab"]
    assert found("user:a_") == ["user:a_b"]
    assert found("user:a%") == []
    assert found("user:A") == ["user:A"]
    assert found("USER") == []
    assert found("z\U0010ffff") == []
    assert found("") == sorted(names)


@pytest.mark.parametrize(
    ("prefix", "least"),
    [("a", "b"), ("az", "a{"), ("a\U0010ffff", "b"), ("\U0010ffff", None), ("\ud7ff", "\ue000"), ("", None)],
)
def test_the_least_text_above_a_prefix(prefix, least):
    assert below(prefix) == least


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("project=nowhere", "There is no project 'nowhere'."),
        ("project=%00", "holds a character no name can hold"),
        ("prefix=user:", "Name a project, too"),
        ("after=nonsense", "malformed scopes cursor"),
        ("project=default&after=WyJvdGhlciIsMV0", "malformed scopes cursor"),
        ("project=%3Cscript%3Ealert(1)%3C/script%3E", "There is no project '<script>alert(1)</script>'."),
    ],
)
def test_a_filter_that_names_nothing_is_said_on_the_page(browser, query, said):
    page = browser.get(f"/admin/memory/scopes/?{query}")
    assert page.status == 200
    assert said in page.text
    assert [row for row in page.rows if len(row) > 1] == []
    assert "<script>alert" not in page.html


@pytest.mark.parametrize("url", ["/admin/memory/documents/", "/admin/conversations/turns/?project=default"])
def test_a_list_of_one_scope_or_conversation_asks_which(browser, url):
    assert "Name a project and a" in browser.get(url).text


SEARCHES = ["foo & | ! (", "a:* <-> b", '"unclosed', "`code`", "it's -- ; drop", "\\", "-", "***", "'", "%", "_", "\0"]


@pytest.mark.parametrize("text", SEARCHES)
@pytest.mark.parametrize(
    "url",
    [
        "/admin/memory/scopes/?project=default&prefix=",
        "/admin/conversations/conversations/?project=default&prefix=",
        "/admin/authz/project/?q=",
        "/admin/authz/apitoken/?q=",
        "/admin/authz/grantclient/?q=",
        "/admin/auth/user/?q=",
        "/admin/autocomplete/?app_label=authz&model_name=apitoken&field_name=project&term=",
    ],
)
def test_a_search_takes_any_text_literally(browser, default, url, text):
    rows.clients(default, 1)
    page = browser.follow(url + urlencode({"": text})[1:])
    assert page.status == 200
    # Django's own lists say that they looked for nothing.
    assert "client:c00000" not in page.text or "Null characters are not allowed." in page.text


class TestFigures:
    def test_a_scopes_figures_are_those_of_the_lists_they_head(self, browser, default):
        rows.documents(default, "user:a", 12)
        rows.redactions(default, "user:a", 4)
        Scope.objects.update(acts=4)
        page = browser.get("/admin/memory/scopes/?project=default")
        # Every fifth of twelve is redacted: three.
        assert page.rows[0][:-1] == ["default", "user:a", "12", "3", "63 B", "12", "84 B", "4"]
        inside = browser.get("/admin/memory/documents/?project=default&scope=user:a")
        assert "12 in this list" in inside.text
        assert [row[4] for row in inside.rows].count("redacted") == 3
        assert "4 in this list" in browser.get("/admin/memory/redactions/?project=default&prefix=user:a").text

    def test_what_is_deleted_is_not_counted_and_not_named(self, browser, wire):
        for path in ("kept", "gone-and-forgotten"):
            wire.ok("memory/write", scope="user:a", path=path, content="12345")
        wire.ok("memory/delete", scope="user:a", path="gone-and-forgotten")
        page = browser.get("/admin/memory/scopes/?project=default")
        assert page.rows[0][2:7] == ["1", "0", "5 B", "3", "15 B"]
        documents = browser.get("/admin/memory/documents/?project=default&scope=user:a")
        assert [row[0] for row in documents.rows] == ["kept"]
        assert "gone-and-forgotten" not in documents.html

    def test_a_conversations_figures(self, browser, wire):
        for _ in range(3):
            wire.ok("conversation/append_turn", conversation_id="c", messages=[{"role": "user", "content": "hi"}])
        entry = {"turn": 1, "span": 1, "kind": "log", "text": "seven b"}
        wire.ok("conversation/append_projections", conversation_id="c", entries=[entry])
        wire.ok("conversation/redact_turns", conversation_id="c", turns=[2])
        page = browser.get("/admin/conversations/conversations/?project=default")
        shown = page.rows[0]
        assert [shown[place] for place in (1, 2, 3, 4, 6, 7, 8)] == ["c", "3", "3", "1", "1", "7 B", "1"]
        turns = browser.get("/admin/conversations/turns/?project=default&conversation=c")
        assert [(row[0], row[2]) for row in turns.rows] == [("1", "live"), ("2", "redacted"), ("3", "live")]
        trail = browser.get("/admin/conversations/redactions/?project=default&prefix=c")
        assert trail.rows[0][1:6] == ["c", "1", "1", "2", "client:default"]

    def test_counting_stops_at_a_bound(self, browser, default, monkeypatch):
        monkeypatch.setattr(figures, "CAP", 10)
        monkeypatch.setattr("neosian_site.admin.stores._MOST", {"most": 11})
        monkeypatch.setattr(figures.shown, "__defaults__", (10,))
        rows.documents(default, "user:a", 10)
        rows.documents(default, "user:b", 14)
        page = browser.get("/admin/memory/scopes/?project=default")
        assert [row[2] for row in page.rows] == ["10", "10+"]
        assert page.rows[1][4].endswith("+")
        assert "10+ in this list" in browser.get("/admin/memory/documents/?project=default&scope=user:b").text

    @pytest.mark.parametrize(
        ("amount", "text"), [(0, "0 B"), (1023, "1,023 B"), (1024, "1.0 KB"), (5 * 1024**4, "5.0 TB")]
    )
    def test_sizes_are_for_people(self, amount, text):
        assert figures.size(amount) == text

    def test_a_projects_figures_equal_its_lists(self, browser, default):
        rows.clients(default, 3)
        rows.grants(default, 2)
        rows.scopes(default, 4)
        rows.conversations(default, 5)
        rows.scopes(other(default), 9)
        for page in (browser.get("/admin/authz/project/?q=default"), browser.get("/admin/authz/project/1/change/")):
            for figure, url in (
                ("3", "/admin/authz/apitoken/?project=default"),
                ("2", "/admin/authz/grantclient/?project=default"),
                ("4", "/admin/memory/scopes/?project=default"),
                ("5", "/admin/conversations/conversations/?project=default"),
            ):
                assert f'<a href="{url}">{figure}</a>' in page.html
                assert len(browser.get(url).rows) == int(figure)


class TestDjangosLists:
    """Projects, clients and grants, which Django's own pages list."""

    @pytest.mark.parametrize(
        ("url", "make"),
        [
            ("/admin/authz/project/", rows.projects),
            ("/admin/authz/apitoken/?project=default", lambda count, start: rows.clients(_default(), count, start)),
            ("/admin/authz/grantclient/?project=default", lambda count, start: rows.grants(_default(), count, start)),
        ],
        ids=["projects", "clients", "grants"],
    )
    def test_a_page_costs_as_many_statements_whatever_it_holds(self, browser, url, make):
        def statements() -> int:
            with CaptureQueriesContext(connection) as captured:
                assert browser.get(url).status == 200
            return len(captured)

        make(2, 0)
        few = statements()
        make(200, 2)
        assert few == statements() <= 6

    def test_following_the_pages_shows_every_client_once_with_a_filter_on(self, browser, default):
        rows.clients(default, ROWS)
        rows.clients(other(default), 3)
        found: list[str] = []
        for number in range(1, -(-ROWS // 50) + 1):
            page = browser.get(f"/admin/authz/apitoken/?project=default&p={number}")
            assert len(page.rows) <= 50
            found += [row[1] for row in page.rows]
        assert found == [f"client:c{number:05}" for number in range(ROWS)]

    def test_a_client_is_found_by_its_names_beginning_or_its_tokens(self, browser, default):
        rows.clients(default, 12)
        found = browser.get("/admin/authz/apitoken/?q=client:c0001").rows
        assert [row[1] for row in found] == ["client:c00010", "client:c00011"]
        assert [row[1] for row in browser.get("/admin/authz/apitoken/?q=ns_00003").rows] == ["client:c00003"]

    def test_a_field_for_the_project_keeps_the_other_filters(self, browser, default):
        rows.clients(default, 1)
        page = browser.get("/admin/authz/apitoken/?q=client:&state=live&project=nowhere")
        form = next(form for form in page.forms if "project" in form.values)
        assert form.values == {"project": "nowhere", "q": "client:", "state": "live"}

    @pytest.mark.slow
    def test_thousands_of_projects_and_clients_are_listed_at_once(self, browser):
        import time

        made = rows.projects(5_000)
        for project in made[::250]:
            rows.clients(project, 1_000)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        for url in (
            "/admin/",
            "/admin/authz/project/",
            "/admin/authz/project/?p=90",
            "/admin/authz/apitoken/",
            "/admin/authz/apitoken/?p=300",
            "/admin/authz/apitoken/?q=client:c00999",
            "/admin/memory/scopes/",
        ):
            browser.get(url)
            started = time.perf_counter()
            assert browser.get(url).status == 200
            assert time.perf_counter() - started < 0.3, url


def _default() -> Project:
    return Project.objects.get(slug="default")
