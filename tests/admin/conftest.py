"""Operators with and without permissions, and stored text that no page may show."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from authz.models import Project
from tests.admin.pages import Browser
from tests.clients import WireClient


def account(name: str, *permissions: str, is_staff: bool = True, is_superuser: bool = False) -> User:
    # No password that could be used: hashing one takes longer than a test.
    user = User.objects.create(username=name, is_staff=is_staff, is_superuser=is_superuser, password="!")
    for permission in permissions:
        app, _, codename = permission.partition(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    return user


@pytest.fixture
def alice(db) -> User:
    """May do everything."""
    return account("alice", is_superuser=True)


@pytest.fixture
def browser(alice: User) -> Browser:
    return logged_in(alice)


@pytest.fixture
def staff(db) -> Callable[..., Browser]:
    """A browser of an operator who has exactly these permissions."""
    return lambda *permissions: logged_in(account("bob", *permissions))


def logged_in(user: User) -> Browser:
    client = Client()
    client.force_login(user)
    return Browser(client)


@pytest.fixture
def default(db) -> Project:
    return Project.objects.get(slug="default")


@pytest.fixture
def wire(db) -> WireClient:
    return WireClient("tok-default")
