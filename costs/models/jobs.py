"""The queue of record, the runs of every source, and the rows that were not taken."""

import uuid

from django.db import models
from django.db.models import Q


class Job(models.Model):
    """One piece of background work. Only costs/jobs.py writes here.

    The row is the truth; a Celery message about it is a hint that may be lost or come twice.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        DUPLICATE = "duplicate"  # the same bytes were published before: nothing to do
        FAILED = "failed"
        CANCELLED = "cancelled"

    TERMINAL = (Status.DONE, Status.DUPLICATE, Status.FAILED, Status.CANCELLED)

    # source:scope:slot for schedules, the idempotency key for people
    key = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=40)  # "ingest", "preview", "sample": see costs/tasks.py
    params = models.JSONField(default=dict)
    requested_by = models.CharField(max_length=254, blank=True)  # an e-mail address, "schedule" or "shell"
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    run_after = models.DateTimeField()
    hinted_at = models.DateTimeField(null=True)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    phase = models.CharField(max_length=12, blank=True)  # fetch, stage, check, publish
    done_units = models.PositiveBigIntegerField(default=0)
    total_units = models.PositiveBigIntegerField(null=True)
    cancel_requested = models.BooleanField(default=False)
    error_code = models.CharField(max_length=40, blank=True)
    message = models.TextField(blank=True)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # read by the tick and by every worker that looks for work
            models.Index(fields=["status", "run_after"], name="job_status_run_after"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"

    @property
    def is_terminal(self) -> bool:
        return self.status in self.TERMINAL


class RawObject(models.Model):
    """The bytes of a file that was read, stored once under var/raw/ by their SHA-256."""

    sha256 = models.CharField(max_length=64, unique=True)
    size_bytes = models.PositiveBigIntegerField()
    name = models.CharField(max_length=255)  # what the file was called; text only, never a path
    fetched_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} {self.sha256[:12]}"


class IngestRun(models.Model):
    """One attempt to take one file of one source: what was read, kept, refused, and how it ended."""

    class Status(models.TextChoices):
        RUNNING = "running"
        DONE = "done"  # published, no row refused as wrong
        PARTIAL = (
            "partial"  # published, some rows refused or held; or nothing to publish: the last good rows stay
        )
        DUPLICATE = "duplicate"
        PREVIEWED = "previewed"  # checked, not published
        FAILED = "failed"  # nothing stored but this record
        CANCELLED = "cancelled"
        UNDONE = "undone"  # was published, and somebody took it back

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="runs")
    source = models.CharField(max_length=40)
    scope = models.CharField(max_length=120, blank=True)
    raw = models.ForeignKey(RawObject, null=True, on_delete=models.PROTECT, related_name="runs")
    origin = models.CharField(max_length=500)  # the file's name or the address it came from
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RUNNING)
    as_of = models.DateTimeField(null=True)  # the date that the data state of themselves
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    lines_read = models.PositiveBigIntegerField(default=0)
    lines_kept = models.PositiveBigIntegerField(default=0)
    lines_rejected = models.PositiveBigIntegerField(default=0)  # wrong lines and lines out of scope
    lines_quarantined = models.PositiveBigIntegerField(default=0)  # lines of which a fact waits for a person
    facts = models.PositiveBigIntegerField(default=0)  # rows that the kept lines gave
    added = models.PositiveBigIntegerField(default=0)
    changed = models.PositiveBigIntegerField(default=0)
    unchanged = models.PositiveBigIntegerField(default=0)
    closed = models.PositiveBigIntegerField(default=0)  # no longer in the file
    held = models.PositiveBigIntegerField(default=0)  # missing, but kept: a wrong line may have been theirs
    sample_rows = models.JSONField(default=list)  # of a preview: its first rows, for the page
    rejected_by_rule = models.JSONField(default=dict)  # rule -> count, exact even where rows are not all kept
    # of a failed run: where and what was wrong, in the parts a page can show
    error_code = models.CharField(max_length=40, blank=True)
    error = models.JSONField(null=True)  # {"line", "column", "value", "rule", "expected"}
    message = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["source", "-started_at"], name="run_source_started")]  # sources page

    def __str__(self) -> str:
        return f"run {self.pk} {self.source} {self.status}"


class RejectedRow(models.Model):
    """One line that was not taken, and why."""

    class Kind(models.TextChoices):
        WRONG = "wrong"  # the line breaks a rule
        OUT_OF_SCOPE = "out_of_scope"  # the line is sound but not ours: a CPU machine, a Windows price

    run = models.ForeignKey(IngestRun, on_delete=models.CASCADE, related_name="rejected")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    line = models.PositiveBigIntegerField()
    column = models.CharField(max_length=120, blank=True)
    value = models.CharField(max_length=500, blank=True)
    rule = models.CharField(max_length=60)
    expected = models.CharField(max_length=300)  # what would be right

    class Meta:
        indexes = [models.Index(fields=["run", "line"], name="rejected_run_line")]  # run page

    def __str__(self) -> str:
        return f"line {self.line}: {self.rule}"


class StagedRow(models.Model):
    """A parsed row that waits for the check and the one publishing transaction."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    lease_token = models.UUIDField(default=uuid.uuid4)
    scope = models.CharField(max_length=120, default="")
    line = models.PositiveBigIntegerField()
    payload = models.JSONField()  # one fact, see costs/rowtext.py

    class Meta:
        # read by publish, one scope after the other
        indexes = [models.Index(fields=["job", "lease_token", "scope", "line"], name="staged_job_token")]

    def __str__(self) -> str:
        return f"job {self.job_id} line {self.line}"


class Batch(models.Model):
    """What one accepted file said about one scope of its source (a provider, a region, a cluster).

    Prices are snapshots: the current batch holds every current price of its (source, scope).
    Utilization is a series: each batch adds or corrects hours, the newest wins.
    """

    run = models.ForeignKey(IngestRun, on_delete=models.PROTECT, related_name="batches")
    source = models.CharField(max_length=40)
    scope = models.CharField(max_length=120)
    raw = models.ForeignKey(RawObject, on_delete=models.PROTECT, related_name="batches")
    parser_version = models.PositiveSmallIntegerField()
    params = models.JSONField(default=dict)  # what the parser was told besides the bytes
    as_of = models.DateTimeField()
    published_at = models.DateTimeField()
    rows = models.PositiveBigIntegerField()
    rows_sha256 = models.CharField(max_length=64)  # over the sorted rows, see costs/ledger.py
    total = models.DecimalField(max_digits=24, decimal_places=9)  # sum of the rows' values, for the ledger
    is_current = models.BooleanField(default=True)
    undone_at = models.DateTimeField(
        null=True
    )  # its facts were taken back; others tell what they read before
    undone_by = models.CharField(max_length=254, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "scope"], condition=Q(is_current=True), name="one_current_batch_per_scope"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source}:{self.scope} {self.as_of:%Y-%m-%d}"
