"""A researcher with an account of the usual kind."""

from .visitor import Visitor

NAME, PASSWORD = "grace", "seven calm butterflies 7"
# Not a superuser: those get their first password by the link alone.
MAKE_A_RESEARCHER = f"""
import django; django.setup()
from django.contrib.auth.models import Permission, User
user = User.objects.create_user({NAME!r}, password={PASSWORD!r}, is_staff=True)
user.user_permissions.set(Permission.objects.all())
"""


def sign_in(visitor: Visitor, name: str = NAME, password: str = PASSWORD) -> None:
    visitor.open("/admin/")
    visitor.page.fill("#id_username", name)
    visitor.page.fill("#id_password", password)
    visitor.page.press("#id_password", "Enter")
    visitor.page.wait_for_selector("#user-tools")
