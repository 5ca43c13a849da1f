"""Ask Azure for its retail prices, page by page, and never publish a short answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlsplit

from costs.rows import FileError

from .azure_prices_json import Answer, check_count, decode_page
from .web_answers import answer
from .words import words

ADDRESS = "https://prices.azure.com/api/retail/prices"
# savings plans are stated by this version alone
_VERSION = "2023-01-01-preview"
TYPES = ("Consumption", "Reservation")
# The sizes with accelerators begin with N. Pages are counted off by position, so a list that changes while
# it is read may lose a row: short questions leave less time for that, and less to ask again.
_SERIES = ("NC", "ND", "NV")
_REST = "N"
_MOST_PAGES = 300  # per question; the longest has a few dozen
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Question:
    """One question: which prices of which sizes, of all regions or of one."""

    type: str
    series: str
    region: str = ""

    @property
    def name(self) -> str:
        return ":".join(filter(None, (self.type, self.series, self.region)))

    @property
    def filter(self) -> str:
        return " and ".join(self._conditions())

    def _conditions(self) -> Iterator[str]:
        yield "serviceName eq 'Virtual Machines'"
        yield f"priceType eq '{self.type}'"
        yield f"startswith(armSkuName, 'Standard_{self.series}')"
        if self.series == _REST:
            yield from (f"startswith(armSkuName, 'Standard_{each}') eq false" for each in _SERIES)
        # what the parser would refuse by name, so that answers stay small
        yield "contains(productName, 'Windows') eq false"
        yield "contains(meterName, 'Low Priority') eq false"
        if self.region:
            yield f"armRegionName eq '{self.region}'"

    @property
    def url(self) -> str:
        query = f"api-version={_VERSION}&meterRegion='primary'&$filter={quote(self.filter)}"
        return f"{ADDRESS}?{query}"


def questions(params: Mapping[str, str]) -> list[Question]:
    """Return what to ask, in this order each time."""
    regions = words(params.get("region", "")) or [""]
    for region in regions:
        if region and not (region.isascii() and region.isalnum()):
            raise FileError("region_wrong", "names of regions such as eastus", value=region)
    return [
        Question(kind, series, region) for region in regions for kind in TYPES for series in (*_SERIES, _REST)
    ]


def _origin(url: str) -> tuple[str, str, int | None, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme), parts.path


def _check_page(page: Answer, seen: set[str], number: int) -> None:
    """Refuse a page that would end the list early, go on for ever, or lead elsewhere."""
    place = f"page {number}"
    check_count(page, number)
    link = page.NextPageLink
    if link == "":
        raise FileError("page_link_empty", "a NextPageLink, or null on the last page", column=place)
    if link and not page.Items:
        raise FileError("page_empty", "items on a page that has a next one", column=place)
    if link and _origin(link) != _origin(ADDRESS):
        raise FileError("page_elsewhere", f"a NextPageLink within {ADDRESS}", column=place, value=link)
    marks = {f"link {link}"} if link else set()
    if page.Items:
        marks.add(f"items {hash(tuple(map(bytes, page.Items)))}")
    if marks & seen:
        raise FileError("page_repeated", "another page each time", column=place, value=link or "")
    seen |= marks


def _pages(question: Question) -> Iterator[Answer]:
    url, seen = question.url, set[str]()
    for number in range(1, _MOST_PAGES + 1):
        page = decode_page(answer(url), f"page {number}")
        _check_page(page, seen, number)
        yield page
        if not page.NextPageLink:
            return
        url = page.NextPageLink
    raise FileError("too_many_pages", f"at most {_MOST_PAGES} pages", value=question.name)


def _document(question: Question) -> Iterator[bytes]:
    """Yield one answer that holds the items of all pages, each as it came."""
    yield f'{{"Question": "{question.name}", "Items": ['.encode()
    separator, count = b"\n", 0
    for page in _pages(question):
        for item in page.Items:
            yield separator + bytes(item)
            separator = b",\n"
        count += len(page.Items)
        yield b""  # a sign of life: the next page may take its time
    yield f'\n], "NextPageLink": null, "Count": {count}}}\n'.encode()


def fetch(params: Mapping[str, str], now: datetime) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the answer to each question as one file."""
    for question in questions(params):
        name = question.name.lower().replace(":", "_")
        yield f"azure_retail_prices_{name}_{now:%Y-%m-%d}.json", _document(question)
