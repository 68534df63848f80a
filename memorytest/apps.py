from django.apps import AppConfig


class MemoryTestConfig(AppConfig):
    name = "memorytest"
    verbose_name = "Memory test"
