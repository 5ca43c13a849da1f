"""People who may log in, and the one-time link that makes the first of them."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models


class PersonManager(BaseUserManager["Person"]):
    """Make people by their e-mail address; `createsuperuser` uses the second method."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "Person":
        person = self.model(email=self.normalize_email(email).lower(), **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "Person":
        fields |= {"is_staff": True, "is_superuser": True, "role": Person.Role.ADMIN}
        return self.create_user(email, password, **fields)


class Person(AbstractUser):
    """A person, known by e-mail address."""

    class Role(models.TextChoices):
        VIEWER = "viewer", "viewer"
        PLANNER = "planner", "planner"
        APPROVER = "approver", "approver"
        ADMIN = "admin", "administrator"

    username = None  # type: ignore[assignment] # Django's documented way to drop the field
    email = models.EmailField("e-mail address", unique=True)
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[PersonManager] = PersonManager()  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.get_full_name() or self.email

    @property
    def may_plan(self) -> bool:
        return self.role != self.Role.VIEWER


class FirstAdminLink(models.Model):
    """The one-time link that makes the first administrator. At most one row: a new link ends the old one."""

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    token_sha256 = models.CharField(max_length=64)  # never the token itself
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_first_admin_link")]

    def __str__(self) -> str:
        return f"first administrator, until {self.expires_at:%Y-%m-%d %H:%M} UTC"
