"""Django's classes that take type parameters in their stubs only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth import admin as auth
from django.forms.models import BaseInlineFormSet

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
    ModelForm = forms.ModelForm[Any]
    InlineFormSet = BaseInlineFormSet[Any, Any, Any]
    UserAdmin = auth.UserAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline
    ModelForm = forms.ModelForm
    InlineFormSet = BaseInlineFormSet
    UserAdmin = auth.UserAdmin
