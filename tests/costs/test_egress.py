"""State that the product connects to listed hosts at checked addresses only, and takes whole answers only."""

import gzip
import ipaddress
import json
import logging
import socket
import ssl
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from costs import egress
from costs.egress import EgressRefused, HttpError, addresses, patience
from costs.egress.decoding import TooLong, decoded

from .feeds import CLOSE, Answer, Feed

LISTED = "http://10.20.0.5:9090,https://mirror.corp.example,http://127.0.0.1:8999,http://[::1]:8998"
PUBLIC = "20.60.1.2"


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Return a table of names and their addresses that stands in for the name server."""
    table: dict[str, list[str]] = {}
    real = socket.getaddrinfo

    def look_up(host: str, port: int, *_: Any, **__: Any) -> Any:
        if host not in table:
            return real(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        return [each for address in table[host] for each in real(address, port, type=socket.SOCK_STREAM)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return table


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the addresses that a connection was tried to; each is refused by the other side."""
    tried: list[str] = []

    def connect(address: tuple[str, int], *_: Any, **__: Any) -> socket.socket:
        tried.append(address[0])
        raise ConnectionRefusedError("nobody there")

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    monkeypatch.setattr(patience, "sleep", lambda seconds: None)
    return tried


def fetched(url: str, **more: Any) -> bytes:
    return b"".join(egress.get(url, **more))


# --- where to ---

REFUSED_URLS = [
    # another host, however it is written
    "https://example.org/",
    "https://prices.azure.com.example.org/",
    "https://example.org/prices.azure.com",
    "https://prices.azure.com@example.org/",
    "https://user:word@prices.azure.com/",
    "https://@prices.azure.com/",
    "https://amazonaws.com/",
    "https://xamazonaws.com/",
    "https://prices.azure.com./",
    "https://sub.prices.azure.com/",
    "https://prices.azure.com%2eexample.org/",
    "https://prices.azure.com\\@example.org/",
    "https://prices.azure。com/",
    # another port or scheme
    "http://prices.azure.com/",
    "https://prices.azure.com:8443/",
    "https://prices.azure.com:99999/",
    "ftp://prices.azure.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "//prices.azure.com/",
    "",
    "https://",
    "https://[::1",
    "https://prices.azure.com/\r\nX-Evil: 1",
    # this machine and the metadata of clouds, as a number in every writing
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://017700000001/",
    "http://localhost/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://0.0.0.0/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://metadata.google.internal/",
    "http://100.100.100.200/",
    # beside what is listed
    "http://10.20.0.5:9091/",
    "https://10.20.0.5:9090/",
    "http://10.20.0.6:9090/",
    "https://mirror.corp.example:8443/",
    "http://mirror.corp.example/",
    "http://127.0.0.1:8998/",
    "http://127.0.0.1:8999@example.org/",
]


@pytest.mark.parametrize("url", REFUSED_URLS)
def test_an_address_that_is_not_listed_is_refused_before_any_look_up(
    url: str, monkeypatch: pytest.MonkeyPatch, connected: list[str]
) -> None:
    monkeypatch.setenv("EGRESS_ALLOW", LISTED)
    looked_up: list[str] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *_, **__: looked_up.append(host))
    with pytest.raises(EgressRefused):
        fetched(url)
    assert (looked_up, connected) == ([], [])


def test_forty_addresses_and_more_are_in_the_table() -> None:
    assert len(set(REFUSED_URLS)) >= 40


@pytest.mark.parametrize(
    "url",
    [
        "https://prices.azure.com/api/retail/prices",
        "https://management.azure.com:443/subscriptions",
        "https://cloudbilling.googleapis.com/v1/services",
        "https://compute.googleapis.com/compute/v1",
        "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/index.json",
        "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v1/latest/catalog.zip",
        "https://www.ecb.europa.eu/stats/",
        "HTTPS://Prices.Azure.Com/",
        "http://10.20.0.5:9090/api/v1/query",
        "https://mirror.corp.example/prices",
        "https://mirror.corp.example:443/prices",
        "http://[::1]:8998/",
    ],
)
def test_feeds_and_listed_origins_may_be_reached(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGRESS_ALLOW", LISTED)
    egress.check_url(url)


def test_a_list_that_is_no_list_of_origins_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGRESS_ALLOW", "mirror.corp.example")
    with pytest.raises(EgressRefused, match=r"EGRESS_ALLOW: 'mirror.corp.example' is no origin such as http"):
        egress.check_url("https://prices.azure.com/")


NEVER = [
    *("127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "0.1.2.3", "::"),  # noqa: S104
    *("169.254.169.254", "169.254.0.1", "fe80::1", "fd00:ec2::254", "fd20:ce::254", "168.63.129.16"),
    *("100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1", "203.0.113.9", "255.255.255.255"),
    *("224.0.0.1", "239.1.1.1", "240.0.0.1", "ff02::1", "2001:db8::1", "fec0::1"),
    # IPv4 inside IPv6: mapped, compatible, NAT64, 6to4, Teredo
    *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
]
PRIVATE = [
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"),
    *("::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:c0a8:101::"),
]


@pytest.mark.parametrize("address", NEVER + PRIVATE)
def test_a_feed_whose_name_means_an_inner_address_is_refused(
    address: str, names: dict[str, list[str]], connected: list[str]
) -> None:
    # one bad address among good ones is enough
    names["prices.azure.com"] = [PUBLIC, address]
    with pytest.raises(EgressRefused, match=r"prices\.azure\.com has the address"):
        fetched("https://prices.azure.com/")
    assert connected == []


@pytest.mark.parametrize("address", NEVER)
def test_a_listed_name_may_not_mean_this_machine_or_metadata_either(
    address: str, names: dict[str, list[str]], connected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGRESS_ALLOW", LISTED)
    names["mirror.corp.example"] = [address]
    with pytest.raises(EgressRefused):
        fetched("https://mirror.corp.example/")
    assert connected == []


@pytest.mark.parametrize("address", [*PRIVATE, PUBLIC, "2a00:1450:4001:81b::200e", "64:ff9b::1414:1414"])
def test_a_listed_name_may_lie_inside_the_firm(
    address: str, names: dict[str, list[str]], connected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGRESS_ALLOW", LISTED)
    names["mirror.corp.example"] = [address]
    with pytest.raises(HttpError, match="nobody there"):
        fetched("https://mirror.corp.example/")
    assert {ipaddress.ip_address(each) for each in connected} == {ipaddress.ip_address(address)}


@given(st.ip_addresses(v=4).map(str))
def test_an_address_is_judged_alike_in_every_wrapping(address: str) -> None:
    number = int(ipaddress.IPv4Address(address))
    high, low = f"{number >> 16:x}", f"{number & 0xFFFF:x}"
    wrapped = [f"::ffff:{address}", f"64:ff9b::{high}:{low}", f"2002:{high}:{low}::1"]
    assert {str(addresses.unwrapped(each)) for each in wrapped} == {address}


def test_names_that_are_no_names_are_refused() -> None:
    for url in ("https://.amazonaws.com/", f"https://{'a' * 64}.amazonaws.com/"):
        with pytest.raises(EgressRefused):
            fetched(url)


# --- the address that was checked is the one that is connected to ---


def test_a_name_that_changes_between_check_and_connection_gains_nothing(
    monkeypatch: pytest.MonkeyPatch, connected: list[str]
) -> None:
    """The name server says a public address once, and this machine for ever after."""
    real, asked = socket.getaddrinfo, []

    def look_up(host: str, port: int, *_: Any, **__: Any) -> Any:
        asked.append(host)
        return real(PUBLIC if len(asked) == 1 else "127.0.0.1", port, type=socket.SOCK_STREAM)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(EgressRefused, match=r"has the address 127\.0\.0\.1"):
        fetched("https://prices.azure.com/")
    # the first connection went to what was checked; the second look-up was checked anew, and refused
    assert (connected, asked) == ([PUBLIC], ["prices.azure.com"] * 2)


def test_the_server_is_spoken_to_by_name_at_the_checked_address(
    feed: Feed, names: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EGRESS_ALLOW", "http://mirror.corp.example:8080")
    names["mirror.corp.example"] = ["10.1.2.3"]
    port, tried = int(feed.origin.rpartition(":")[2]), []

    def connect(address: tuple[str, int], *_: Any, **__: Any) -> socket.socket:
        tried.append(address)
        return socket.create_connection(("127.0.0.1", port))

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    feed.play("/prices", Answer(text="42"))
    assert fetched("http://mirror.corp.example:8080/prices") == b"42"
    assert tried == [("10.1.2.3", 8080)]
    assert feed.requests[0].headers["Host"] == "mirror.corp.example:8080"


def test_another_address_of_the_host_is_tried_when_one_is_silent(
    names: dict[str, list[str]], connected: list[str]
) -> None:
    names["prices.azure.com"] = ["20.60.1.2", "20.60.1.3"]
    with pytest.raises(HttpError):
        fetched("https://prices.azure.com/")
    assert connected[:2] == ["20.60.1.2", "20.60.1.3"]


# --- certificates ---


def _certificate(folder: Path, name: str) -> Path:
    """Write a key and a certificate of its own for a host."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Return a function that serves TLS as some host, which is trusted; it gives the origin to ask."""
    running: list[tuple[HTTPServer, Thread]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"hello {self.headers['Host'].partition(':')[0]}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    class Quiet(HTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            return  # a client that does not trust us hangs up

    def serve(name: str) -> str:
        pem = _certificate(tmp_path, name)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        server = Quiet(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        running.append((server, thread))
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        origin = f"https://localhost:{server.server_address[1]}"
        monkeypatch.setenv("EGRESS_ALLOW", origin)
        return origin

    monkeypatch.setattr(patience, "sleep", lambda seconds: None)
    yield serve
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_certificate_is_checked_against_the_name_not_the_address(tls: Callable[[str], str]) -> None:
    assert fetched(tls("localhost")) == b"hello localhost"


def test_a_trusted_certificate_of_another_host_is_refused(tls: Callable[[str], str]) -> None:
    with pytest.raises(HttpError, match="CERTIFICATE_VERIFY_FAILED"):
        fetched(tls("prices.azure.com"))


def test_an_untrusted_certificate_is_refused(
    tls: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    origin = tls("localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(_certificate(tmp_path, "other.example")))
    with pytest.raises(HttpError, match="CERTIFICATE_VERIFY_FAILED"):
        fetched(origin)


# --- whole answers ---


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("", lambda data: data),
        ("gzip", gzip.compress),
        ("gzip", lambda data: gzip.compress(data[:1000]) + gzip.compress(data[1000:])),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
    ],
)
def test_a_body_comes_unpacked(feed: Feed, coding: str, pack: Callable[[bytes], bytes]) -> None:
    data = json.dumps([f"row {n}" for n in range(50_000)]).encode()
    feed.play("/", Answer(body=pack(data), headers={"Content-Encoding": coding}))
    assert fetched(feed.origin) == data


def test_a_body_in_chunks_is_whole_when_its_last_chunk_is(feed: Feed) -> None:
    whole = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    headers = {"Transfer-Encoding": "chunked"}
    feed.play("/", Answer(body=whole, headers=headers))
    assert fetched(feed.origin) == b"hello world"
    feed.play("/", Answer(body=whole, headers=headers, cut_after=18))
    with pytest.raises(HttpError, match="no answer"):
        fetched(feed.origin)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(text="date,price\n" * 1000, cut_after=5000),  # fewer bytes than the head says
        Answer(body=gzip.compress(b"x" * 9999)[:-1], headers={"Content-Encoding": "gzip"}),
        Answer(body=gzip.compress(b"x" * 9999)[:-8], headers={"Content-Encoding": "gzip"}),
        Answer(body=gzip.compress(b"x" * 9999), headers={"Content-Encoding": "gzip"}, cut_after=20),
        Answer(body=b"not packed", headers={"Content-Encoding": "gzip"}),
        Answer(body=b"", headers={"Content-Encoding": "gzip"}),
        Answer(body=gzip.compress(b"x") + b"junk", headers={"Content-Encoding": "gzip"}),
        Answer(body=zlib.compress(b"x" * 9999)[:-2], headers={"Content-Encoding": "deflate"}),
        Answer(body=b"\x1b\x00", headers={"Content-Encoding": "br"}),
        Answer(text="until the connection closes", headers={"Content-Length": ""}),
        CLOSE,
    ],
)
def test_a_body_that_is_not_whole_is_never_a_short_success(feed: Feed, answer: Answer) -> None:
    feed.play("/", answer)
    with pytest.raises(HttpError):
        fetched(feed.origin)


@given(
    data=st.binary(max_size=3000),
    cut=st.integers(min_value=1),
    sizes=st.lists(st.integers(1, 500), min_size=1),
)
def test_any_cut_of_a_packed_body_is_noticed(data: bytes, cut: int, sizes: list[int]) -> None:
    packed = gzip.compress(data)
    blocks = [packed[start : start + sizes[0]] for start in range(0, len(packed), sizes[0])]
    assert b"".join(decoded(iter(blocks), "gzip", 10_000)) == data
    short = packed[: -(cut % len(packed) or 1)]
    with pytest.raises(EOFError):
        b"".join(decoded(iter([short]), "gzip", 10_000))


def test_bytes_are_counted_unpacked(feed: Feed) -> None:
    bomb = gzip.compress(bytes(5_000_000))
    assert len(bomb) < 10_000
    feed.play("/", Answer(body=bomb, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(HttpError, match="more than 1,000,000 bytes"):
        fetched(feed.origin, most_bytes=1_000_000)
    assert len(fetched(feed.origin, most_bytes=5_000_000)) == 5_000_000


def test_packed_nothings_without_end_are_counted_too() -> None:
    nothing = gzip.compress(b"")
    with pytest.raises(TooLong):
        for _ in decoded((nothing * 1000 for _ in range(10**9)), "gzip", 1000):
            pass


def test_numbers_come_as_they_are_written(feed: Feed) -> None:
    feed.play("/", Answer(text='{"retailPrice": 98.320000000000000001, "count": 8}'))
    assert egress.get_json(feed.origin) == {"retailPrice": Decimal("98.320000000000000001"), "count": 8}


@pytest.mark.parametrize("text", ["<html>502 Bad Gateway</html>", '{"a": NaN}', "[" * 200_000, "", "\xff"])
def test_a_success_that_is_not_json_is_no_success(feed: Feed, text: str) -> None:
    feed.play("/", Answer(text=text))
    with pytest.raises(HttpError, match="not JSON") as caught:
        egress.get_json(feed.origin)
    assert caught.value.status == 200


# --- patience ---


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that were waited between attempts; nobody really waits."""
    waited: list[float] = []
    monkeypatch.setattr(patience, "sleep", waited.append)
    return waited


def test_passing_trouble_is_tried_again(feed: Feed, pauses: list[float]) -> None:
    cut = Answer(json={"price": 1}, cut_after=4)
    feed.play("/", Answer(429), Answer(500), CLOSE, Answer(503), cut, Answer(json={"price": 2}))
    assert egress.get_json(feed.origin) == {"price": 2}
    assert len(feed.requests) == 6
    assert len(pauses) == 5


def test_trouble_that_does_not_pass_is_raised_with_what_was_said(feed: Feed, pauses: list[float]) -> None:
    feed.play("/", Answer(503, text="come back " * 100))
    with pytest.raises(HttpError) as caught:
        fetched(feed.origin)
    assert (caught.value.status, caught.value.text) == (503, ("come back " * 100)[:500])
    assert len(feed.requests) == 6


@pytest.mark.parametrize("status", [201, 204, 206, 304, 400, 401, 403, 404, 410])
def test_an_answer_that_asking_again_does_not_change_is_raised_at_once(feed: Feed, status: int) -> None:
    feed.play("/", Answer(status))
    with pytest.raises(HttpError) as caught:
        fetched(feed.origin)
    assert caught.value.status == status
    assert len(feed.requests) == 1


def test_what_was_handed_out_is_not_asked_for_again(feed: Feed) -> None:
    feed.play("/", Answer(body=bytes(1_000_000), cut_after=500_000), Answer(body=bytes(1_000_000)))
    blocks = egress.get(feed.origin)
    assert len(next(blocks)) > 0
    with pytest.raises(HttpError):
        list(blocks)
    assert len(feed.requests) == 1


def test_pauses_grow_and_are_left_to_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE_SECONDS", 0.5)
    for attempt, most in ((1, 0.5), (2, 1), (3, 2), (4, 4), (20, 8)):
        drawn = {patience.pause(attempt, None) for _ in range(50)}
        assert most / 2 <= min(drawn) < max(drawn) <= most


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("7", 7),
        ("86400", 15),
        ("9" * 400, 15),
        ("Mon, 30 Nov 2026 12:00:10 GMT", 10),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0),
        ("Mon, 30 Nov 2027 11:00:00 GMT", 15),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_a_wait_that_is_asked_for_is_kept_within_reason(text: str, seconds: float | None) -> None:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
    assert patience.wait_asked_for(text, now) == seconds
    if seconds is not None:
        assert seconds <= patience.pause(1, seconds) <= seconds * 1.1


def test_a_server_that_asks_for_long_waits_is_left_to_the_next_run(
    feed: Feed, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock stands still but for the pauses: the second one would end after the last moment to ask."""
    feed.play("/", Answer(429, headers={"Retry-After": "30"}))
    monkeypatch.setattr(patience, "clock", lambda: sum(pauses))
    with pytest.raises(HttpError) as caught:
        fetched(feed.origin)
    assert caught.value.status == 429
    assert len(pauses) == 1
    assert 15 <= sum(pauses) <= patience.LAST_ATTEMPT_AFTER_SECONDS


def test_an_answer_that_drips_is_not_waited_for(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes within a socket's own patience; together they would take days."""
    clock = iter(range(0, 10**6, 9))  # each look at the clock is nine seconds later
    monkeypatch.setattr(patience, "clock", lambda: next(clock))
    monkeypatch.setattr(patience, "sleep", lambda seconds: None)
    sent = b"1\r\nx\r\n" * 100_000

    feed.play("/", Answer(body=sent + b"0\r\n\r\n", headers={"Transfer-Encoding": "chunked"}))
    reader = patience._Reads.readinto

    def one_byte(self: Any, buffer: Any) -> int:
        return reader(self, memoryview(buffer)[:1])

    monkeypatch.setattr(patience._Reads, "readinto", one_byte)
    with pytest.raises(HttpError, match="no answer"):
        fetched(feed.origin)
    assert len(feed.requests) == 1  # by then it is too late to ask again


# --- redirects ---


def test_three_redirects_are_followed_and_a_fourth_is_not(feed: Feed) -> None:
    for hop in range(1, 5):
        feed.play(f"/{hop}", Answer(302, headers={"Location": f"/{hop + 1}"}))
    feed.play("/5", Answer(text="here"))
    assert fetched(f"{feed.origin}/2") == b"here"
    with pytest.raises(HttpError, match="more than 3 redirects"):
        fetched(f"{feed.origin}/1")


@pytest.mark.parametrize(
    "place",
    ["http://169.254.169.254/latest", "https://example.org/", "//example.org/", "file:///etc/passwd"],
)
def test_a_redirect_to_elsewhere_is_refused(feed: Feed, place: str) -> None:
    feed.play("/", Answer(301, headers={"Location": place}))
    with pytest.raises(EgressRefused):
        fetched(feed.origin)


def test_a_redirect_to_nowhere_is_no_answer(feed: Feed) -> None:
    feed.play("/", Answer(302))
    with pytest.raises(HttpError, match="a redirect to nowhere"):
        fetched(feed.origin)


def test_a_key_is_not_handed_to_another_host(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Feed()
    monkeypatch.setenv("EGRESS_ALLOW", f"{feed.origin},{other.origin}")
    feed.play("/", Answer(307, headers={"Location": f"{other.origin}/there"}))
    other.play("/there", Answer(text="found"))
    try:
        assert fetched(feed.origin, headers={"Authorization": "Bearer canary"}) == b"found"
    finally:
        other.close()
    assert feed.requests[0].headers["Authorization"] == "Bearer canary"
    assert "Authorization" not in other.requests[0].headers


# --- keys stay out of what people read ---


def test_a_key_is_in_no_message_and_no_log(feed: Feed, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    headers = {"X-Goog-Api-Key": "canary-in-header"}
    url = f"{feed.origin}/skus?key=canary%2Bone&access_token=canary-two&page=2"
    answers = (
        Answer(400, text="bad key canary+one, token canary-two, header canary-in-header"),
        Answer(200, text="canary+one is not JSON"),
        Answer(200, body=b"", headers={"Location": url, "Broken Header": "x"}),
    )
    for answer in answers:
        feed.play("/skus", answer)
        with pytest.raises(HttpError) as caught:
            egress.get_json(url, headers=headers)
        error = caught.value
        assert "canary" not in f"{error} {error.url} {error.text} {caplog.text}"
        assert "page=2" in error.url
    for refused in (f"https://example.org/{url[len(feed.origin) :]}", "https://x.org/?api_key=canary\n"):
        with pytest.raises(EgressRefused) as stopped:
            fetched(refused)
        assert "canary" not in str(stopped.value)
    assert feed.requests[0].query["key"] == "canary+one"


def test_the_librarys_own_log_shows_no_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("urllib3.connection").warning(
        "Failed to parse headers (url=%s): %s", "https://a.example/x?key=canary", "reason"
    )
    assert "reason" in caplog.text
    assert "canary" not in caplog.text


def test_spaces_and_signs_of_a_question_arrive(feed: Feed) -> None:
    feed.play("/prices", Answer(text="1"))
    fetched(f"{feed.origin}/prices?$filter=serviceName eq 'Virtual Machines' and a ge 1&x=é")
    assert feed.requests[0].query == {
        "$filter": "serviceName eq 'Virtual Machines' and a ge 1",
        "x": "é",
    }
