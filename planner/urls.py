"""Every address. Each group of pages lists its own in its view module."""

from django.urls import URLPattern, URLResolver

from planner.views import accounts, compare, gpus, overview, prices, sample, scenarios, sources, spot

urlpatterns: list[URLPattern | URLResolver] = [
    *accounts.urlpatterns,
    *overview.urlpatterns,
    *prices.urlpatterns,
    *gpus.urlpatterns,
    *spot.urlpatterns,
    *scenarios.urlpatterns,
    *compare.urlpatterns,
    *sources.urlpatterns,
    *sample.urlpatterns,
]

handler404 = "planner.views.errors.not_found"
handler403 = "planner.views.errors.forbidden"
handler500 = "planner.views.errors.server_error"
