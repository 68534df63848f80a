from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "The researcher's desk"
