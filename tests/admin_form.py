"""A form of the admin as a browser would send it back, untouched."""

from typing import Any

from django.test import Client


def form_values(client: Client, path: str) -> dict[str, Any]:
    """What the form at an address holds, its inlines included."""
    context = client.get(path).context
    form = context["adminform"].form
    values = {form.add_prefix(name): form[name].value() for name in form.fields}
    for inline in context["inline_admin_formsets"]:
        management = inline.formset.management_form
        values |= {
            management.add_prefix(name): management[name].value() for name in management.fields
        }
    flags = {name: "on" if value is True else value for name, value in values.items()}
    return {
        name: value for name, value in flags.items() if value is not None and value is not False
    }
