"""The form of a client's grants: judged by the functions that judge the grants file."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django import forms

from authz import grants
from authz.models import ConversationGrant, GrantClient, ScopeGrant
from authz.names import check_actor
from authz.operations import grants as operations
from neosian_site.admin.bases import InlineFormSet, ModelForm
from neosian_site.core.errors import InvalidValue


def mark(entry: grants.ClientEntry | None) -> str:
    """What tells whether grants are still as a page showed them."""
    return hashlib.sha256(json.dumps(operations.shape(entry)).encode()).hexdigest()


class GrantForm(ModelForm):
    actor = forms.CharField(strip=False, help_text="Whose grants these are: kind:id, e.g. client:alice.")
    # What the operator saw when the form was opened.
    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = GrantClient
        fields = ("project", "actor", "operator")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is not None:
            self.initial["seen"] = mark(operations.entry(self.instance))

    def clean_actor(self) -> str:
        actor: str = self.cleaned_data["actor"]
        try:
            check_actor(actor)
        except InvalidValue as error:
            raise forms.ValidationError(str(error)) from error
        return actor


class _RuleForm(ModelForm):
    """A row judged by the file's rules alone: rows are written anew together, so those that stand judge nothing."""

    def _get_validation_exclusions(self) -> set[str]:
        return {field.name for field in self._meta.model._meta.fields}

    def validate_unique(self) -> None:
        """The whole entry is judged by the form set."""


class ScopeGrantForm(_RuleForm):
    scope = forms.CharField(strip=False, widget=forms.TextInput(attrs={"size": 60}))

    class Meta:
        model = ScopeGrant
        fields = ("scope", "read", "write")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            _judged(self, lambda: scope_of(given))
        return given


class ConversationGrantForm(_RuleForm):
    prefix = forms.CharField(  # type: ignore[assignment] # a form's own prefix is set on its instance
        required=False, strip=False, empty_value=None, widget=forms.TextInput(attrs={"size": 40}),
        help_text="Literal beginning of ids.",
    )  # fmt: skip
    ids = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 2, "cols": 40}), help_text="Or whole ids, one a line."
    )

    class Meta:
        model = ConversationGrant
        fields = ("prefix", "ids", "read", "append")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.ids:
            self.initial["ids"] = "\n".join(self.instance.ids)

    def clean_ids(self) -> list[str] | None:
        return self.cleaned_data["ids"].split() or None

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            _judged(self, lambda: conversation_of(given))
        return given


def scope_of(given: dict[str, Any]) -> grants.ScopeGrant:
    return grants.ScopeGrant(given["scope"], given["read"], given["write"])


def conversation_of(given: dict[str, Any]) -> grants.ConversationGrant:
    ids = given["ids"]
    named = None if ids is None else tuple(ids)
    return grants.ConversationGrant(given["prefix"], named, given["read"], given["append"])


def _judged(form: Any, make: Any) -> None:
    try:
        make()
    except InvalidValue as error:
        form.add_error(None, str(error))


class _KnownRow(forms.Field):
    """Which row a part of the form is; Django's own field would ask the database for each."""

    widget = forms.HiddenInput

    def __init__(self, known: dict[str, Any], initial: Any) -> None:
        super().__init__(required=False, initial=initial)
        self.known = known

    def clean(self, value: Any) -> Any:
        return self.known.get(str(value))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False


class GrantFormSet(InlineFormSet):
    """The rows of one kind, judged together as the grants file judges them."""

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        form.fields["id"] = _KnownRow({str(row.pk): row for row in self.get_queryset()}, form.instance.pk)

    def kept(self) -> list[dict[str, Any]]:
        """The values of the rows that are to stand."""
        deleted = self.deleted_forms
        stands = [form for form in self.forms if form.instance.pk is not None or form.has_changed()]
        return [form.cleaned_data for form in stands if form not in deleted]

    def validate_unique(self) -> None:
        """The entry says it in the file's words."""

    def clean(self) -> None:
        super().clean()
        if any(self.errors):
            return
        make = scope_of if self.model is ScopeGrant else conversation_of
        made: Any = tuple(make(values) for values in self.kept())
        try:
            if self.model is ScopeGrant:
                grants.ClientEntry("client:any", scopes=made)
            else:
                grants.ClientEntry("client:any", conversations=made)
        except InvalidValue as error:
            raise forms.ValidationError(str(error)) from error
