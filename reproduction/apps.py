from django.apps import AppConfig


class ReproductionConfig(AppConfig):
    name = "reproduction"
