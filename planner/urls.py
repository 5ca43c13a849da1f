"""Every address. Each group of pages lists its own in its view module."""

from django.urls import include, path

from planner.views import accounts, compare, overview, prices, sample, scenarios, sources

urlpatterns = [
    *accounts.urlpatterns,
    *overview.urlpatterns,
    *prices.urlpatterns,
    *scenarios.urlpatterns,
    *compare.urlpatterns,
    *sources.urlpatterns,
    *sample.urlpatterns,
    path("accounts/", include("allauth.account.urls")),
]

handler404 = "planner.views.errors.not_found"
handler403 = "planner.views.errors.forbidden"
handler500 = "planner.views.errors.server_error"
