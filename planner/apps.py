from django.apps import AppConfig


class PlannerConfig(AppConfig):
    name = "planner"
    verbose_name = "Plans and pages"

    def ready(self) -> None:
        # shared tasks must find our Celery app in every process, web included
        from planner import celery  # noqa: F401
