"""A browser for the admin: pages as a person sees them, forms as they are sent back."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from django.test import Client

SCHEME = "http://testserver"
_SAME_PAGE = {"_changelist_filters", "o", "_facets"}


@dataclass
class Form:
    action: str
    method: str
    values: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)


class _Reader(HTMLParser):
    """Text, links and forms of one page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.rows: list[list[str]] = []
        self.text: list[str] = []
        self.tags: list[str] = []
        self._form: Form | None = None
        self._cell: list[str] | None = None
        self._in_body = False
        self._area: str | None = None
        self._select: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "form":
            self._form = Form(given.get("action", ""), given.get("method", "get").lower())
            self.forms.append(self._form)
        elif tag == "input" and self._form is not None:
            self._input(given)
        elif tag == "textarea":
            self._area = given.get("name")
        elif tag == "select":
            self._select = given.get("name")
            if self._form is not None and self._select:
                self._form.values.setdefault(self._select, "")
        elif tag == "option" and self._form is not None and self._select and "selected" in given:
            self._form.values[self._select] = given.get("value", "")
        elif tag == "tbody":
            self._in_body = True
        elif tag == "tr" and self._in_body:
            self.rows.append([])
        elif tag in ("td", "th") and self._in_body and self.rows:
            self._cell = []

    def _input(self, given: dict[str, str]) -> None:
        assert self._form is not None
        kind, name = given.get("type", "text"), given.get("name", "")
        if kind == "submit":
            self._form.buttons.append((name, given.get("value", "")))
        elif kind in ("checkbox", "radio"):
            if "checked" in given:
                self._form.values[name] = given.get("value", "on")
        elif name:
            self._form.values[name] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "textarea":
            self._area = None
        elif tag == "select":
            self._select = None
        elif tag == "tbody":
            self._in_body = False
        elif tag in ("td", "th") and self._cell is not None:
            self.rows[-1].append("".join(self._cell).strip())
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._area is not None and self._form is not None:
            self._form.values[self._area] = self._form.values.get(self._area, "") + data.removeprefix("\n").strip(
                "\r\n"
            )
        if self._cell is not None:
            self._cell.append(data)
        self.text.append(data)


@dataclass
class Page:
    url: str
    status: int
    html: str
    headers: dict[str, str]
    links: list[str]
    forms: list[Form]
    rows: list[list[str]]
    text: str
    tags: list[str]

    def post_form(self, holding: str | None = None) -> Form:
        """The page's form that is posted: the one with this button, or the only one beside logging out."""
        found = [
            form
            for form in self.forms
            if form.method == "post"
            and not form.action.endswith("/logout/")
            and (holding is None or any(value == holding for _, value in form.buttons))
        ]
        assert len(found) == 1, (self.url, holding, [form.buttons for form in found])
        return found[0]


class Browser:
    def __init__(self, client: Client) -> None:
        self.client = client

    def get(self, url: str) -> Page:
        return self._page(url, self.client.get(url))

    def follow(self, url: str) -> Page:
        return self._page(url, self.client.get(url, follow=True))

    def send(self, page: Page, holding: str | None = None, **values: Any) -> Page:
        """Send a page's form with these values changed; the page it leads to. ``None`` takes a value out."""
        form = page.post_form(holding)
        given = {**form.values, **{name.replace("__dash__", "-"): value for name, value in values.items()}}
        return self.post(urljoin(page.url, form.action or page.url), {k: v for k, v in given.items() if v is not None})

    def post(self, url: str, values: dict[str, Any]) -> Page:
        return self._page(url, self.client.post(url, values, follow=True))

    def _page(self, url: str, answer: Any) -> Page:
        last = answer.redirect_chain[-1][0] if getattr(answer, "redirect_chain", None) else url
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        html = body.decode()
        reader = _Reader()
        if "html" in answer.headers.get("Content-Type", ""):
            reader.feed(html)
        return Page(
            url=last,
            status=answer.status_code,
            html=html,
            headers={name.lower(): value for name, value in answer.headers.items()},
            links=reader.links,
            forms=reader.forms,
            rows=reader.rows,
            text=" ".join(" ".join(reader.text).split()),
            tags=reader.tags,
        )

    def walk(self, start: str = "/admin/", most: int = 400) -> dict[str, Page]:
        """Every page that links lead to, from ``start``; none twice."""
        found: dict[str, Page] = {}
        waiting = [start]
        while waiting:
            url = waiting.pop()
            if url in found:
                continue
            assert len(found) < most, "the pages do not end"
            found[url] = page = self.get(url)
            for link in page.links:
                parts = urlsplit(urljoin(SCHEME + url, link))
                # Where one came from, the order of a list and the count of its filters make no other page.
                query = [(name, value) for name, value in parse_qsl(parts.query) if name not in _SAME_PAGE]
                # Django's filters combine; one at a time is enough.
                if (
                    parts.path.startswith("/admin/")
                    and sum("__" in name or name in ("state", "client") for name, _ in query) < 2
                ):
                    waiting.append(parts.path + (f"?{urlencode(query)}" if query else ""))
        return found
