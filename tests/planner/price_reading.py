"""Read a page of prices as a person does, and its file as a program does."""

import csv
import io
import re
from html import unescape


def text_of(response) -> str:
    """Return the page as a reader sees it: tags gone, blanks joined."""
    body = re.sub(r"<[^>]+>", " ", response.content.decode())
    return re.sub(r"\s+", " ", unescape(body)).replace("\u2011", "-")


def rows_of(response) -> list[list[str]]:
    """Return the cells of the table, row by row."""
    (body,) = re.findall(r"<tbody>(.*?)</tbody>", response.content.decode(), re.S)
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.S)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in rows]
    return [
        [re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", cell))).strip() for cell in row] for row in cells
    ]


def file_of(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode(), newline="")))
