from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("planner", "0002_scenarios")]

    operations = [
        migrations.CreateModel(
            name="FirstAdminLink",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("token_sha256", models.CharField(max_length=64)),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="one_first_admin_link")
                ],
            },
        ),
    ]
