"""Ask AWS for the commitments that an account holds: one saved answer for each question and region.

A right that is missing closes one question, not the others: its answer is saved as the refusal that it is,
and the parser says which right would open it. Keys that are missing or wrong open nothing, so they stop it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from botocore.exceptions import ClientError, NoCredentialsError, PartialCredentialsError

from costs.rows import FileError

from .aws_ec2 import REGIONS, client
from .words import words

NEEDS = (
    "AWS keys of the account with ec2:DescribeReservedInstances, ec2:DescribeCapacityReservations and"
    " savingsplans:DescribeSavingsPlans; they unlock the commitments that the account holds"
)
# the service has one endpoint for all regions
_PLANS_REGION = "us-east-1"
_MOST_PAGES = 500
_NO_RIGHT = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"})
_REGION_OFF = frozenset({"OptInRequired"})
# AWS cannot answer this question, such as one for a machine that a region does not have
_QUESTION_WRONG = ("InvalidInstanceType", "InvalidParameter", "Unsupported")
# keys that are wrong or out of date: no other question fares better
_KEYS_WRONG = frozenset(
    (
        *("AuthFailure", "ExpiredToken", "ExpiredTokenException", "IncompleteSignature"),
        *("InvalidClientTokenId", "InvalidSignatureException", "MissingAuthenticationToken"),
        *("RequestExpired", "SignatureDoesNotMatch", "UnrecognizedClientException"),
    )
)


@dataclass(frozen=True)
class Question:
    """One call of one service, and the name of the list that answers it."""

    service: str
    operation: str  # as boto3 calls it
    right: str
    answer: str  # key of the list
    token: str  # key of the next page's token; "" where the answer has one page
    file: str  # how the names of its files begin
    needs: str  # what to say where there are no keys at all


RESERVED = Question(
    "ec2", "describe_reserved_instances", "ec2:DescribeReservedInstances",
    "ReservedInstances", "", "aws_reserved_instances", NEEDS,
)  # fmt: skip
CAPACITY = Question(
    "ec2", "describe_capacity_reservations", "ec2:DescribeCapacityReservations",
    "CapacityReservations", "NextToken", "aws_capacity_reservations", NEEDS,
)  # fmt: skip
PLANS = Question(
    "savingsplans", "describe_savings_plans", "savingsplans:DescribeSavingsPlans",
    "savingsPlans", "nextToken", "aws_savings_plans", NEEDS,
)  # fmt: skip


def refusal_of(error: ClientError, needs: str) -> str:
    """Return the code of a refusal that concerns this question alone; raise any other error."""
    code = str(error.response.get("Error", {}).get("Code", ""))
    if code in _NO_RIGHT or code in _REGION_OFF or code.startswith(_QUESTION_WRONG):
        return code
    if code in _KEYS_WRONG:
        raise FileError("auth_failed", needs, value=str(error)) from error
    raise error


def account_of(region: str) -> str:
    """Return the number of the account whose keys are used, "" where its keys may not even ask that."""
    try:
        return str(client("sts", region).get_caller_identity().get("Account", ""))
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise FileError("auth_failed", NEEDS, value=str(error)) from error
    except ClientError as error:
        refusal_of(error, NEEDS)
        return ""


def _check_page(question: Question, answer: Mapping[str, Any], seen: set[str], place: str) -> str:
    """Return the next page's token; refuse an answer that would end the list early or go on for ever."""
    records = answer.get(question.answer)
    if not isinstance(records, list):
        raise FileError("page_wrong", f"a list {question.answer}", column=place, value=sorted(answer))
    token = str(answer.get(question.token, "")) if question.token else ""
    # these close a list with an empty token, the other services with none
    if not token and question.token in answer and question.service not in ("ec2", "savingsplans"):
        raise FileError("page_token_empty", "a token, or none on the last page", column=place)
    marks = {f"token {token}"} if token else set()
    if records:
        marks.add(f"records {written(records)!r}")
    if marks & seen:
        raise FileError("page_repeated", "another page each time", column=place, value=token)
    seen |= marks
    return token


def pages(question: Question, aws: Any, asked: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield the answer's list page by page."""
    seen: set[str] = set()
    token = ""
    for number in range(1, _MOST_PAGES + 1):
        more = {question.token: token} if token else {}
        answer = getattr(aws, question.operation)(**asked, **more)
        token = _check_page(question, answer, seen, f"{aws.meta.region_name} page {number}")
        yield answer[question.answer]
        if not token:
            return
    raise FileError("too_many_pages", f"at most {_MOST_PAGES} pages", value=question.right)


def _plain(value: Any) -> str:
    """Return a moment as text; boto3 gives moments, and no other thing that JSON does not know."""
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"no text for {type(value).__name__}")


def written(records: Iterable[Any]) -> bytes:
    return ",\n".join(json.dumps(record, default=_plain) for record in records).encode()


def saved(
    question: Question, region: str, asked: Mapping[str, Any], account: Callable[[], str], now: datetime
) -> Iterator[bytes]:
    """Yield one document: whose it is, where it was asked, and the whole answer or the refusal."""
    try:
        head: dict[str, Any] = {
            "Account": account(),
            "Region": region,
            "AsOf": now.isoformat(),
            "Right": question.right,
            "Asked": dict(asked),
        }
        aws = client(question.service, region or _PLANS_REGION)
        found = [written(page) for page in pages(question, aws, asked) if page]
        refused = ""
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise FileError("auth_failed", question.needs, value=str(error)) from error
    except ClientError as error:
        code, said = refusal_of(error, question.needs), error.response["Error"].get("Message", "")
        found, refused = [], f"{code}: {said}"[:300]
    if refused:
        head["Refused"] = refused
    yield json.dumps(head).encode()[:-1] + f', "{question.answer}": [\n'.encode()
    yield b",\n".join(found)
    yield b"\n]}\n"


def _plan_states(region: str) -> list[str]:
    """Return every state of a savings plan that the service knows: plans that ended are asked for too."""
    model = client("savingsplans", region).meta.service_model
    return list(model.shape_for("SavingsPlanState").enum)


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the reserved instances and capacity reservations of each region, then the savings plans."""
    regions = words(params.get("region", "") or REGIONS)

    @cache
    def account() -> str:
        return account_of(regions[0]) or params.get("account", "").strip()

    for region in regions:
        for question in (RESERVED, CAPACITY):
            name = f"{question.file}_{region}_{now:%Y-%m-%d}.json"
            yield name, saved(question, region, {}, account, now)

    def plans() -> Iterator[bytes]:
        yield from saved(PLANS, "", {"states": _plan_states(_PLANS_REGION)}, account, now)

    yield f"{PLANS.file}_{now:%Y-%m-%d}.json", plans()
