"""The form that makes a client, judged as the operation judges, so that a refusal stands beside its field."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.admin.widgets import AdminSplitDateTime
from django.db.models import QuerySet

from authz.models import ApiToken, GrantClient
from authz.names import check_actor
from authz.operations import clients
from neosian_site.admin.bases import ModelForm
from neosian_site.core.errors import InvalidValue


def grants_of(project: Any, actor: str) -> QuerySet[GrantClient]:
    return GrantClient.objects.filter(project=project, actor=actor)


class ClientForm(ModelForm):
    """What a client is to be."""

    actor = forms.CharField(strip=False, help_text="Whom its writes are recorded under: kind:id, e.g. client:alice.")
    constrained = forms.BooleanField(
        required=False,
        label="Hold it to prefixes",
        help_text="It then reaches only what is said below, and no whole-store route. Otherwise: the whole project.",
    )
    scope_prefix = forms.CharField(
        required=False, strip=False, empty_value=None, max_length=clients.MAX_PREFIX_CHARS,
        help_text="Literal beginning of every memory scope it may use. Empty: no scope, unless any is ticked.",
    )  # fmt: skip
    any_scope = forms.BooleanField(required=False, label="Any scope")
    conversation_prefix = forms.CharField(
        required=False, strip=False, empty_value=None, max_length=clients.MAX_PREFIX_CHARS,
        help_text="Literal beginning of every conversation id it may use. Empty: none, unless any is ticked.",
    )  # fmt: skip
    any_conversation = forms.BooleanField(required=False, label="Any conversation")
    expires_at = forms.SplitDateTimeField(
        label="Ends at (UTC)", required=False, widget=AdminSplitDateTime, help_text="Empty: it does not end by itself."
    )
    reactivate = forms.BooleanField(
        required=False,
        label="Take over old grants",
        help_text="Needed where an earlier client of this name was revoked and its grants are still there.",
    )

    class Meta:
        model = ApiToken
        fields = ("project", "actor", "constrained", "scope_prefix", "conversation_prefix", "expires_at")

    def clean_actor(self) -> str:
        actor: str = self.cleaned_data["actor"]
        try:
            check_actor(actor)
        except InvalidValue as error:
            raise forms.ValidationError(str(error)) from error
        return actor

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        for name, any_ in (("scope_prefix", "any_scope"), ("conversation_prefix", "any_conversation")):
            if given.get(any_):
                if given.get(name) is not None:
                    self.add_error(name, "Give a prefix or tick any, not both.")
                given[name] = ""
        prefixes = (given.get("scope_prefix"), given.get("conversation_prefix"))
        if given.get("constrained") and prefixes == (None, None) and not self.errors:
            self.add_error("constrained", "Give at least one prefix, or tick one of the any boxes.")
        if not given.get("constrained") and prefixes != (None, None):
            self.add_error("constrained", "Tick this, or leave the prefixes empty.")
        self._check_name(given)
        return given

    def _check_name(self, given: dict[str, Any]) -> None:
        project, actor = given.get("project"), given.get("actor")
        if project is None or actor is None:
            return
        same = ApiToken.objects.filter(project=project, actor=actor)
        if same.filter(revoked_at=None).exists():
            self.add_error("actor", f"Project {project.slug} has a live client {actor} already; revoke it first.")
        elif not given.get("reactivate") and same.exists() and grants_of(project, actor).exists():
            self.add_error(
                "reactivate",
                f"An earlier client {actor} was revoked and left grants, which will be in force again: look at them"
                " first, then tick this.",
            )

    def _get_validation_exclusions(self) -> set[str]:
        # The row is made by the operation: what the model would check of it is not there yet.
        return {field.name for field in ApiToken._meta.fields}

    def validate_constraints(self) -> None:
        """The database's own, judged when the operation writes."""
