"""Malformed and hostile requests, byte for byte: each gets the right refusal, or the connection is closed, and the
server goes on. One table; every row is a test of its own."""

import dataclasses
import json
import time
import unittest

from tests.system.harness import PATIENCE, Raw, Server, check_problem

HOST = b"Host: localhost\r\n"
SMUGGLED = b'{"type":"smuggled","queue":"smuggled"}'
SMUGGLED_REQUEST = (
    b"POST /v1/tasks HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(SMUGGLED) + SMUGGLED
)  # fmt: skip
TASK = b'{"type":"t"}'
SOME_ID = "0193d0a8-3c5e-7abc-8def-0123456789ab"


UPGRADE = (
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def request(method="POST", path="/v1/tasks", body=b"", headers=b"", length=True):
    sized = b"Content-Length: %d\r\n" % len(body) if length else b""
    return f"{method} {path} HTTP/1.1\r\n".encode() + HOST + headers + sized + b"\r\n" + body


def chunked(body, headers=b""):
    return request(body=body, headers=b"Transfer-Encoding: chunked\r\n" + headers, length=False)


def said(path="/v1/tasks", method="POST", **fields):
    """A request with these fields as JSON."""
    return request(method, path, json.dumps(fields).encode())


def task_with(**fields):
    return said(type="t", **fields)


def slowly(data, gap, at_once=1):
    """Bytes that come one after the other."""
    return Slow(data, gap, at_once)


@dataclasses.dataclass
class Slow:
    data: bytes
    gap: float
    at_once: int


@dataclasses.dataclass
class Row:
    name: str
    data: object  # bytes, or Slow
    status: object = 400  # one, a tuple of those that are right, or None: no answer at all
    then: str = "closed"  # or "open": the connection is still good, and in step
    field: str | None = None
    allow: str | None = None
    before: tuple = ()  # the statuses of answers that come first
    server: str = "usual"


CLOSED = None  # no answer

# ---- who is asked for how long a body is must not be in doubt ----

framing = [
    Row("length_and_chunked", request(body=b"0\r\n\r\n" + SMUGGLED_REQUEST, headers=b"Transfer-Encoding: chunked\r\n")),
    Row("chunked_and_length_of_zero", chunked(b"0\r\n\r\n" + SMUGGLED_REQUEST, b"Content-Length: 0\r\n")),
    Row("two_lengths_that_differ", request(body=TASK + SMUGGLED_REQUEST, headers=b"Content-Length: 12\r\n")),
    Row("two_lengths_that_agree", request(body=TASK, headers=b"Content-Length: 12\r\n")),
    Row("a_list_of_lengths", request(body=TASK, headers=b"Content-Length: 12, 12\r\n", length=False)),
    Row("a_negative_length", request(body=TASK, headers=b"Content-Length: -1\r\n", length=False)),
    Row("a_length_with_a_plus", request(body=TASK, headers=b"Content-Length: +12\r\n", length=False)),
    Row("a_hexadecimal_length", request(body=TASK, headers=b"Content-Length: 0xc\r\n", length=False)),
    Row("a_length_with_a_blank_inside", request(body=TASK, headers=b"Content-Length: 1 2\r\n", length=False)),
    Row("an_empty_length", request(body=TASK, headers=b"Content-Length:\r\n", length=False)),
    Row("a_length_beyond_64_bits", request(headers=b"Content-Length: 18446744073709551628\r\n", length=False)),
    Row("a_length_beyond_the_limit", request(headers=b"Content-Length: 1048577\r\n", length=False), 413),
    Row("a_length_just_within_64_bits", request(headers=b"Content-Length: 18446744073709551615\r\n", length=False), 413),
    Row("a_blank_before_the_colon_of_a_length", request(body=TASK, headers=b"Content-Length : 12\r\n", length=False)),
    Row("two_encodings", chunked(b"0\r\n\r\n", b"Transfer-Encoding: chunked\r\n")),
    Row("chunked_twice_in_one_header", request(body=b"0\r\n\r\n", headers=b"Transfer-Encoding: chunked, chunked\r\n", length=False), 501),
    Row("gzip_then_chunked", request(body=b"0\r\n\r\n", headers=b"Transfer-Encoding: gzip, chunked\r\n", length=False), 501),
    Row("chunked_then_identity", request(body=b"0\r\n\r\n", headers=b"Transfer-Encoding: chunked, identity\r\n", length=False), 501),
    Row("an_unknown_encoding", request(body=SMUGGLED_REQUEST, headers=b"Transfer-Encoding: xchunked\r\n", length=False), 501),
    Row("an_empty_encoding", request(body=SMUGGLED_REQUEST, headers=b"Transfer-Encoding:\r\n", length=False), 501),
    Row("a_quoted_encoding", request(body=SMUGGLED_REQUEST, headers=b'Transfer-Encoding: "chunked"\r\n', length=False), 501),
    Row("an_encoding_with_a_vertical_tab", request(body=SMUGGLED_REQUEST, headers=b"Transfer-Encoding: \x0bchunked\r\n", length=False)),
    Row("a_blank_before_the_colon_of_an_encoding", request(body=SMUGGLED_REQUEST, headers=b"Transfer-Encoding : chunked\r\n", length=False)),
    Row("an_encoding_behind_a_bare_line_feed", request(body=SMUGGLED_REQUEST, headers=b"X: y\nTransfer-Encoding: chunked\r\n", length=False)),
    Row("an_encoding_behind_a_bare_carriage_return", request(body=SMUGGLED_REQUEST, headers=b"X: y\rTransfer-Encoding: chunked\r\n", length=False)),
    Row("chunked_in_http_1_0", b"POST /v1/tasks HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED_REQUEST),
    Row("a_folded_header", request(body=TASK, headers=b"X: a\r\n b\r\n")),
    Row("a_folded_encoding", request(body=SMUGGLED_REQUEST, headers=b"Transfer-Encoding:\r\n chunked\r\n", length=False)),
    Row("a_fold_before_the_first_header", b"GET /healthz HTTP/1.1\r\n X: y\r\n" + HOST + b"\r\n"),
    Row("only_bare_line_feeds", b"GET /healthz HTTP/1.1\nHost: localhost\n\n" + b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    Row("a_line_feed_in_the_request_line", b"GET /healthz\n HTTP/1.1\r\n" + HOST + b"\r\n"),
]  # fmt: skip

chunks = [
    Row("a_chunk_shorter_than_its_size", chunked(b"ff\r\n{}\r\n0\r\n\r\n" + b"x" * 300)),
    Row("a_chunk_longer_than_its_size", chunked(b"2\r\n{}garbage\r\n0\r\n\r\n")),
    Row("a_chunk_without_a_size", chunked(b"\r\n{}\r\n0\r\n\r\n")),
    Row("a_chunk_with_a_negative_size", chunked(b"-2\r\n{}\r\n0\r\n\r\n")),
    Row("a_chunk_with_0x", chunked(b"0x2\r\n{}\r\n0\r\n\r\n")),
    Row("a_chunk_with_a_blank_before_its_size", chunked(b" 2\r\n{}\r\n0\r\n\r\n")),
    Row("a_chunk_with_a_size_beyond_64_bits", chunked(b"10000000000000002\r\n{}\r\n0\r\n\r\n")),
    Row("a_chunk_beyond_the_limit", chunked(b"100001\r\n"), 413),
    Row("chunks_that_are_too_much_together", chunked(b"80000\r\n" + b" " * 0x80000 + b"\r\n80001\r\n"), 413),
    Row("a_chunk_line_that_ends_in_a_bare_line_feed", chunked(b"2\n{}\r\n0\r\n\r\n" + SMUGGLED_REQUEST)),
    Row("a_flood_of_chunk_extension", chunked(b"2;" + b"a" * 300 + b"\r\n{}\r\n0\r\n\r\n")),
    Row("a_chunk_extension_with_a_line_feed", chunked(b"2;a\nb\r\n{}\r\n0\r\n\r\n")),
    Row("a_flood_of_trailers", chunked(b"0\r\n" + b"T: v\r\n" * 2000 + b"\r\n"), 431),
    Row("more_trailers_than_headers_are_allowed", chunked(b"0\r\n" + b"T: v\r\n" * 200 + b"\r\n"), 431),
    Row("a_trailer_that_is_none", chunked(b"0\r\nnonsense\r\n\r\n")),
    Row("a_folded_trailer", chunked(b"0\r\nT: a\r\n b\r\n\r\n")),
    Row("a_trailer_that_names_a_length", chunked(b"c\r\n" + TASK + b"\r\n0\r\nContent-Length: 400\r\n\r\n"), 202, "open"),
    Row("a_chunk_extension_within_the_limit", chunked(b"c;name=value\r\n" + TASK + b"\r\n0\r\n\r\n"), 202, "open"),
]  # fmt: skip

# What comes behind a request that is complete is the next one, or nothing.
behind = [
    Row("garbage_behind_a_body", request(body=TASK) + b"\x00\x01\x02garbage\r\n\r\n", 400, before=(202,)),
    Row("json_behind_a_body", request(body=TASK) + b'{"type":"t"}\r\n\r\n', 400, before=(202,)),
    Row("a_request_whose_body_is_a_request", request(body=SMUGGLED_REQUEST), 422, "open"),
    Row("a_get_whose_body_is_a_request", request("GET", "/healthz", SMUGGLED_REQUEST), 422, "open"),
    Row("blank_lines_before_a_request", b"\r\n" * 20 + request("GET", "/healthz", length=False)),
    Row("a_refused_request_with_a_good_one_behind", b"GET / HTTP/9.9\r\n\r\n" + SMUGGLED_REQUEST, 505),
    Row("close_with_a_good_one_behind", request("GET", "/healthz", headers=b"Connection: close\r\n") + SMUGGLED_REQUEST, 200),
    Row("http_1_0_with_a_good_one_behind", b"GET /healthz HTTP/1.0\r\n\r\n" + SMUGGLED_REQUEST, 200),
]  # fmt: skip

heads = [
    Row("no_host", b"GET /healthz HTTP/1.1\r\n\r\n"),
    Row("two_hosts", b"GET /healthz HTTP/1.1\r\n" + HOST + HOST + b"\r\n"),
    Row("a_list_of_hosts", b"GET /healthz HTTP/1.1\r\nHost: localhost, localhost\r\n\r\n"),
    Row("a_host_with_a_user", b"GET /healthz HTTP/1.1\r\nHost: localhost@evil.example\r\n\r\n"),
    Row("another_host", b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421, "open", "Host"),
    Row("a_host_that_begins_like_ours", b"GET /healthz HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 421, "open", "Host"),
    Row("a_host_that_ends_like_ours", b"GET /healthz HTTP/1.1\r\nHost: evil-localhost\r\n\r\n", 421, "open", "Host"),
    Row("another_origin", request(body=TASK, headers=b"Origin: https://evil.example\r\n"), 403, "open", "Origin"),
    Row("an_origin_that_begins_like_ours", request(body=TASK, headers=b"Origin: http://localhost.evil.example\r\n"), 403, "open", "Origin"),
    Row("the_null_origin", request(body=TASK, headers=b"Origin: null\r\n"), 403, "open", "Origin"),
    Row("a_websocket_of_another_origin", request("GET", "/v1/work", headers=b"Origin: https://evil.example\r\n" + UPGRADE, length=False), 403, "open", "Origin"),
    Row("a_header_flood", request("GET", "/healthz", headers=b"".join(b"X-%d: y\r\n" % i for i in range(150))), 431),
    Row("a_huge_header", request("GET", "/healthz", headers=b"X: " + b"y" * 20_000 + b"\r\n"), 431),
    Row("a_head_without_an_end", b"GET /healthz HTTP/1.1\r\n" + b"X: y\r\n" * 5000, 431),
    Row("a_huge_target", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
    Row("a_method_without_an_end", b"A" * 5000),
    Row("a_header_without_a_colon", request("GET", "/healthz", headers=b"nonsense\r\n")),
    Row("a_header_without_a_name", request("GET", "/healthz", headers=b": v\r\n")),
    Row("a_header_name_with_a_blank", request("GET", "/healthz", headers=b"X Y: v\r\n")),
    Row("a_header_name_beyond_ascii", request("GET", "/healthz", headers="Ä: v\r\n".encode())),
    Row("a_nul_in_a_header", request("GET", "/healthz", headers=b"X: a\x00b\r\n")),
    Row("an_escape_in_a_header", request("GET", "/healthz", headers=b"X: a\x1bb\r\n")),
    Row("an_expectation_nobody_meets", request("GET", "/healthz", headers=b"Expect: miracles\r\n"), 417),
    Row("tls", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256))),
    Row("http_2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505)),
    Row("http_0_9", b"GET /healthz\r\n\r\n"),
    Row("a_version_in_small_letters", b"GET /healthz http/1.1\r\n" + HOST + b"\r\n"),
    Row("a_version_that_goes_on", b"GET /healthz HTTP/1.1x\r\n" + HOST + b"\r\n"),
    Row("two_blanks_in_the_request_line", b"GET  /healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    Row("an_absolute_target", b"GET http://localhost/healthz HTTP/1.1\r\n" + HOST + b"\r\n"),
    Row("an_asterisk", b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n"),
    Row("connect", b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + b"\r\n"),
    Row("a_fragment_in_the_target", b"GET /healthz#x HTTP/1.1\r\n" + HOST + b"\r\n"),
    Row("a_control_character_in_the_target", b"GET /health\x01z HTTP/1.1\r\n" + HOST + b"\r\n"),
    Row("bytes_beyond_ascii_in_the_target", "GET /ä HTTP/1.1\r\n".encode() + HOST + b"\r\n"),
    Row("an_unfinished_percent", request("GET", "/v1/tasks/%4"), 400, "open"),
    Row("a_percent_that_is_no_number", request("GET", "/v1/queues/%zz"), 400, "open"),
    Row("a_nul_in_the_path", request("GET", "/v1/queues/a%00b"), 400, "open"),
    Row("a_nul_in_the_query", request("GET", "/v1/tasks?queue=a%00b"), 400, "open"),
    Row("a_broken_query", request("GET", "/v1/tasks?queue=%"), 400, "open"),
]  # fmt: skip

paths = [
    Row("an_unknown_path", request("GET", "/v2/tasks"), 404, "open"),
    Row("a_path_with_a_slash_too_many", request("GET", "/v1//tasks"), 404, "open"),
    Row("a_path_that_climbs", request("GET", "/v1/../../etc/passwd"), 404, "open"),
    Row("a_path_that_climbs_encoded", request("GET", "/v1/tasks/%2e%2e%2f%2e%2e%2fetc%2fpasswd"), 422, "open", "id"),
    Row("put_on_tasks", request("PUT", "/v1/tasks"), 405, "open", allow="GET, POST"),
    Row("delete_on_a_task", request("DELETE", f"/v1/tasks/{SOME_ID}"), 405, "open", allow="GET"),
    Row("get_on_claim", request("GET", "/v1/claim"), 405, "open", allow="POST"),
    Row("post_on_limits", request("POST", "/v1/queues/q/limits", b"{}"), 405, "open", allow="PUT"),
    Row("options", request("OPTIONS", "/v1/tasks"), 405, "open", allow="GET, POST"),
    Row("trace", request("TRACE", "/healthz"), 405, "open", allow="GET"),
    Row("an_invented_method", request("FROBNICATE", "/healthz"), 405, "open", allow="GET"),
    Row("a_method_in_small_letters", request("get", "/healthz"), 405, "open", allow="GET"),
    Row("an_id_that_is_none", request("GET", "/v1/tasks/7"), 422, "open", "id"),
    Row("an_id_with_a_quote", request("GET", "/v1/tasks/%27%20OR%201=1--"), 422, "open", "id"),
    Row("an_id_nobody_has", request("GET", f"/v1/tasks/{SOME_ID}"), 404, "open"),
    Row("an_unknown_parameter", request("GET", "/v1/tasks?colour=red"), 422, "open", "colour"),
    Row("a_wait_that_is_too_long", request("GET", f"/v1/tasks/{SOME_ID}?wait=61s"), 422, "open", "wait"),
    Row("a_wait_that_is_no_duration", request("GET", f"/v1/tasks/{SOME_ID}?wait=soon"), 422, "open", "wait"),
    Row("a_limit_that_is_no_number", request("GET", "/v1/tasks?limit=ten"), 422, "open", "limit"),
    Row("a_limit_of_zero", request("GET", "/v1/tasks?limit=0"), 422, "open", "limit"),
    Row("a_limit_that_is_too_large", request("GET", "/v1/tasks?limit=1001"), 422, "open", "limit"),
    Row("a_state_that_is_none", request("GET", "/v1/tasks?state=lost"), 422, "open", "state"),
    Row("a_time_that_is_none", request("GET", "/v1/tasks?since=yesterday"), 422, "open", "since"),
    Row("a_cursor_that_is_none", request("GET", "/v1/tasks?cursor=%27%3B--"), (200, 422), "open"),
    Row("an_event_filter_that_is_none", request("GET", "/v1/events?filter=colour:red"), 422, field="filter"),
    Row("no_upgrade_on_the_stream", request("GET", "/v1/work"), 426, "open"),
    Row("bytes_beyond_utf8_in_a_parameters_name", request("GET", "/v1/tasks?%ff=1"), 422, "open"),
    Row("bytes_beyond_utf8_in_a_parameter", request("GET", "/v1/tasks?queue=%ff"), 422, "open", "queue"),
    Row("bytes_beyond_utf8_in_a_path", request("GET", "/v1/queues/%ff"), 422, "open", "queue"),
    Row("bytes_beyond_utf8_in_a_cursor", request("GET", "/v1/tasks?cursor=%ff"), (200, 422), "open"),
    Row("bytes_beyond_utf8_in_an_id", request("GET", "/v1/tasks/%ff%fe"), 422, "open", "id"),
    Row("bytes_beyond_utf8_in_a_key", request(body=TASK, headers=b"Idempotency-Key: \xff\xfe\r\n"), 422, "open", "Idempotency-Key"),
    Row("an_upgrade_in_http_1_0", b"GET /v1/work HTTP/1.0\r\nHost: localhost\r\n" + UPGRADE + b"\r\n", 426),
    Row("a_websocket_without_a_key", request("GET", "/v1/work", headers=UPGRADE.replace(b"Sec-WebSocket-Key", b"X"), length=False), 400, "open", "Sec-WebSocket-Key"),
    Row("a_websocket_of_an_old_version", request("GET", "/v1/work", headers=UPGRADE.replace(b"13", b"8"), length=False), 426, "open", "Sec-WebSocket-Version"),
    Row("an_upgrade_to_something_else", request("GET", "/v1/work", headers=b"Upgrade: h2c\r\nConnection: Upgrade\r\n"), 426, "open"),
]  # fmt: skip

bombs = [
    Row("a_million_brackets", request(body=b'{"type":"t","payload":' + b"[" * 1_000_000), 422, "open", "body"),
    Row("a_million_objects", request(body=b'{"a":' * 200_000), 422, "open", "body"),
    Row("one_level_too_deep", request(body=b'{"type":"t","payload":' + b"[" * 64 + b"]" * 64 + b"}"), 422, "open", "body"),
    Row("ten_thousand_keys", request(body=b'{"type":"t","payload":{' + b",".join(b'"%d":0' % i for i in range(10_001)) + b"}}"), 422, "open", "body"),
    Row("a_duplicate_key", request(body=b'{"type":"t","type":"u"}'), 422, "open", "body"),
    Row("a_duplicate_key_deep_inside", request(body=b'{"type":"t","payload":[{"a":{"b":1,"b":2}}]}'), 422, "open", "body"),
    Row("a_duplicate_key_in_disguise", request(body=b'{"type":"t","payload":{"a":1,"\\u0061":2}}'), 422, "open", "body"),
    Row("a_number_out_of_range", request(body=b'{"type":"t","payload":1e999}'), 422, "open", "body"),
    Row("nan", request(body=b'{"type":"t","payload":NaN}'), 422, "open", "body"),
    Row("minus_infinity", request(body=b'{"type":"t","payload":-Infinity}'), 422, "open", "body"),
    Row("a_number_with_a_leading_zero", request(body=b'{"type":"t","payload":007}'), 422, "open", "body"),
    Row("bad_utf8", request(body=b'{"type":"t","payload":"\xff\xfe"}'), 422, "open", "body"),
    Row("overlong_utf8", request(body=b'{"type":"t","payload":"\xc0\xaf"}'), 422, "open", "body"),
    Row("utf8_cut_short", request(body=b'{"type":"t","payload":"\xe2\x82"}'), 422, "open", "body"),
    Row("a_surrogate_in_utf8", request(body=b'{"type":"t","payload":"\xed\xa0\x80"}'), 422, "open", "body"),
    Row("a_lone_surrogate", request(body=b'{"type":"t","payload":"\\ud800"}'), 422, "open", "body"),
    Row("surrogates_in_the_wrong_order", request(body=b'{"type":"t","payload":"\\udc00\\ud800"}'), 422, "open", "body"),
    Row("a_control_character_in_a_text", request(body=b'{"type":"t","payload":"a\x01b"}'), 422, "open", "body"),
    Row("a_line_feed_in_a_text", request(body=b'{"type":"t","payload":"a\nb"}'), 422, "open", "body"),
    Row("a_nul_in_the_body", request(body=b'{"type":"t"\x00}'), 422, "open", "body"),
    Row("a_byte_order_mark", request(body=b"\xef\xbb\xbf" + TASK), 422, "open", "body"),
    Row("utf16", request(body='{"type":"t"}'.encode("utf-16")), 422, "open", "body"),
    Row("truncated_json", request(body=b'{"type":"t","payl'), 422, "open", "body"),
    Row("two_documents", request(body=TASK + TASK), 422, "open", "body"),
    Row("a_trailing_comma", request(body=b'{"type":"t",}'), 422, "open", "body"),
    Row("a_comment", request(body=b'{"type":"t"/*x*/}'), 422, "open", "body"),
    Row("single_quotes", request(body=b"{'type':'t'}"), 422, "open", "body"),
    Row("no_body", request(), 422, "open", "body"),
    Row("blanks_only", request(body=b"   "), 422, "open", "body"),
    Row("gzip", request(body=b"\x1f\x8b\x08\x00\x00\x00\x00\x00", headers=b"Content-Encoding: gzip\r\n"), (415, 422), "open"),
]  # fmt: skip

fields = [
    Row("no_type", said(queue="q"), 422, "open", "type"),
    Row("a_task_that_is_a_number", request(body=b"7"), 422, "open", "body"),
    Row("a_task_that_is_null", request(body=b"null"), 422, "open", "body"),
    Row("an_unknown_field", task_with(colour="red"), 422, "open", "colour"),
    Row("a_field_a_client_may_not_set", task_with(state="succeeded"), 422, "open", "state"),
    Row("an_unknown_field_of_retry", task_with(retry={"tries": 3}), 422, "open", "retry.tries"),
    Row("an_unknown_field_of_a_policy", task_with(retry={"policy": {"schedule": ["1s"], "speed": 1}}), 422, "open", "retry.policy.speed"),
    Row("a_type_that_is_a_number", said(type=7), 422, "open", "type"),
    Row("a_type_with_a_blank", said(type="a b"), 422, "open", "type"),
    Row("a_type_that_is_too_long", said(type="a" * 65), 422, "open", "type"),
    Row("a_type_with_a_control_character", said(type="a\n"), 422, "open", "type"),
    Row("a_queue_with_a_slash", task_with(queue="a/b"), 422, "open", "queue"),
    Row("a_priority_of_ten", task_with(priority=10), 422, "open", "priority"),
    Row("a_negative_priority", task_with(priority=-1), 422, "open", "priority"),
    Row("a_priority_with_a_fraction", task_with(priority=1.5), 422, "open", "priority"),
    Row("a_priority_as_text", task_with(priority="5"), 422, "open", "priority"),
    Row("a_huge_priority", request(body=b'{"type":"t","priority":99999999999999999999}'), 422, "open", "priority"),
    Row("labels_that_are_a_list", task_with(labels=["a"]), 422, "open", "labels"),
    Row("a_label_that_is_a_number", task_with(labels={"a": 1}), 422, "open", "labels.a"),
    Row("too_many_labels", task_with(labels={f"l{i}": "v" for i in range(17)}), 422, "open", "labels"),
    Row("a_label_that_is_too_long", task_with(labels={"a": "v" * 257}), 422, "open", "labels.a"),
    Row("a_label_with_a_line_feed", task_with(labels={"a": "x\nb=y"}), 422, "open", "labels.a"),
    Row("a_label_with_a_bad_name", task_with(labels={"a=b": "v"}), 422, "open", "labels.a=b"),
    Row("a_key_that_is_too_long", task_with(idempotency_key="k" * 256), 422, "open", "idempotency_key"),
    Row("a_key_with_a_control_character", task_with(idempotency_key="a\x00b"), 422, "open", "idempotency_key"),
    Row("a_key_in_the_header_that_is_too_long", request(body=TASK, headers=b"Idempotency-Key: " + b"k" * 256 + b"\r\n"), 422, "open", "idempotency_key"),
    Row("two_keys_that_differ", request(body=b'{"type":"t","idempotency_key":"a"}', headers=b"Idempotency-Key: b\r\n"), 422, "open", "Idempotency-Key"),
    Row("a_delay_that_is_a_number", task_with(delay=5), 422, "open", "delay"),
    Row("a_negative_delay", task_with(delay="-5s"), 422, "open", "delay"),
    Row("a_delay_without_a_unit", task_with(delay="5"), 422, "open", "delay"),
    Row("a_delay_of_ages", task_with(delay="99999999999999999999d"), 422, "open", "delay"),
    Row("a_delay_and_a_time", task_with(delay="1s", run_at="2030-01-01T00:00:00.000Z"), 422, "open", "delay"),
    Row("a_run_at_that_is_none", task_with(run_at="2030-02-30T00:00:00Z"), 422, "open", "run_at"),
    Row("a_lease_that_is_too_short", task_with(lease="10ms"), 422, "open", "lease"),
    Row("a_lease_that_is_too_long", task_with(lease="25h"), 422, "open", "lease"),
    Row("a_timeout_of_zero", task_with(timeout="0s"), 422, "open", "timeout"),
    Row("a_preset_nobody_knows", task_with(retry="heroic"), 422, "open", "retry"),
    Row("too_many_attempts", task_with(retry={"max": 1001}), 422, "open", "retry.max"),
    Row("a_traceparent_that_is_none", task_with(traceparent="00-zz"), 422, "open", "traceparent"),
    Row("an_ending_nobody_knows", task_with(on_exhausted="explode"), 422, "open", "on_exhausted"),
    Row("a_batch_of_1001", request(body=b"[" + b",".join([TASK] * 1001) + b"]"), 422, "open", "body"),
    Row("a_batch_that_waits", request(path="/v1/tasks?wait=1s", body=b"[" + TASK + b"]"), 422, "open", "wait"),
    Row("a_body_beyond_the_limit", request(body=b'{"type":"t","payload":"' + b"x" * (1 << 20) + b'"}'), 413),
]  # fmt: skip

CLAIM = {"queues": ["q"], "worker": "w"}
ITEM = {"id": SOME_ID, "attempt": 1, "epoch": 1}

others = [
    Row("a_claim_without_queues", said("/v1/claim", worker="w"), 422, "open", "queues"),
    Row("a_claim_of_no_queue", said("/v1/claim", worker="w", queues=[]), 422, "open", "queues"),
    Row("a_claim_without_a_worker", said("/v1/claim", queues=["q"]), 422, "open", "worker"),
    Row("a_claim_of_1001", said("/v1/claim", **CLAIM, max=1001), 422, "open", "max"),
    Row("a_claim_of_none", said("/v1/claim", **CLAIM, max=0), 422, "open", "max"),
    Row("a_claim_that_waits_too_long", said("/v1/claim", **CLAIM, wait="61s"), 422, "open", "wait"),
    Row("a_claim_with_a_short_lease", said("/v1/claim", **CLAIM, lease="1ms"), 422, "open", "lease"),
    Row("a_claim_by_type_without_lanes", said("/v1/claim", **CLAIM, types=["t"]), 422, "open", "types"),
    Row("a_claim_with_an_unknown_field", said("/v1/claim", **CLAIM, colour="red"), 422, "open", "colour"),
    Row("a_completion_without_items", said("/v1/complete"), 422, "open", "items"),
    Row("a_completion_without_a_fence", said("/v1/complete", items=[{"id": SOME_ID}]), 422, "open", "items[0].attempt"),
    Row("a_completion_with_an_unknown_field", said("/v1/complete", items=[{**ITEM, "x": 1}]), 422, "open", "items[0].x"),
    Row("1001_completions", said("/v1/complete", items=[ITEM] * 1001), 422, "open", "items"),
    Row("a_failure_of_an_unknown_kind", said("/v1/fail", items=[{**ITEM, "error": {"kind": "odd"}}]), 422, "open", "items[0].error.kind"),
    Row("a_failure_without_an_error", said("/v1/fail", items=[ITEM]), 422, "open", "items[0].error"),
    Row("a_checkpoint_without_a_stage", said("/v1/checkpoint", items=[ITEM]), 422, "open", "items[0].stage"),
    Row("a_heartbeat_with_a_bad_progress", said("/v1/heartbeat", items=[{**ITEM, "progress": "half"}]), 422, "open", "items[0].progress"),
    Row("a_bulk_without_a_filter", said("/v1/tasks/bulk", action="cancel"), 422, "open", "filter"),
    Row("a_bulk_with_an_unknown_action", said("/v1/tasks/bulk", action="explode", filter={}), 422, "open", "action"),
    Row("a_bulk_with_an_unknown_filter", said("/v1/tasks/bulk", action="cancel", filter={"colour": "red"}), 422, "open", "filter.colour"),
    Row("a_bulk_with_a_negative_limit", said("/v1/tasks/bulk", action="cancel", filter={}, limit=-1), 422, "open", "limit"),
    Row("a_bulk_nobody_started", request("GET", f"/v1/bulk/{SOME_ID}"), 404, "open"),
    Row("ids_and_a_filter", said("/internal/tasks/suspended/resume", ids=[SOME_ID], filter={}), 422, "open", "ids"),
    Row("an_id_in_ids_that_is_none", said("/internal/tasks/suspended/resume", ids=["7"]), 422, "open", "ids"),
    Row("a_queue_with_a_bad_name", request("POST", "/v1/queues/a%20b/pause", b"{}"), 422, "open", "queue"),
    Row("limits_that_are_negative", said("/v1/queues/q/limits", "PUT", concurrency=-1), 422, "open", "concurrency"),
    Row("limits_with_a_fraction", said("/v1/queues/q/limits", "PUT", concurrency=1.5), 422, "open", "concurrency"),
    Row("a_rate_that_is_negative", said("/v1/queues/q/limits", "PUT", rate=-1), 422, "open", "rate"),
    Row("a_reason_that_is_a_list", said(f"/v1/tasks/{SOME_ID}/cancel", reason=[]), 422, "open", "reason"),
    Row("a_reason_that_is_too_long", said(f"/v1/tasks/{SOME_ID}/cancel", reason="x" * 1025), 422, "open", "reason"),
    Row("a_body_where_none_is_taken", request("GET", "/v1/queues", b"{}"), 422, "open", "body"),
]  # fmt: skip

# A server whose patience is short.
slow = [
    Row("a_slow_head", slowly(request("GET", "/healthz", length=False), 0.1), CLOSED, server="hasty"),
    Row("a_head_that_never_ends", b"GET /healthz HTTP/1.1\r\nHost:", CLOSED, server="hasty"),
    Row("a_slow_body", slowly(request(body=TASK), 0.1), CLOSED, server="hasty"),
    Row("a_body_that_never_comes", request(headers=b"Content-Length: 100\r\n", length=False), CLOSED, server="hasty"),
    Row("a_slow_chunk", chunked(b"ff\r\n{"), CLOSED, server="hasty"),
    Row("trailers_that_never_end", chunked(b"c\r\n" + TASK + b"\r\n0\r\nT: v\r\n"), CLOSED, server="hasty"),
    Row("a_body_asked_for_that_never_comes", request(headers=b"Expect: 100-continue\r\nContent-Length: 10\r\n", length=False), CLOSED, server="hasty"),
    Row("idle_from_the_beginning", b"", CLOSED, server="hasty"),
    Row("idle_after_a_request", request("GET", "/healthz"), 200, server="hasty"),
    Row("a_blank_line_and_no_more", b"\r\n", CLOSED, server="hasty"),
    Row("a_slow_body_where_any_rate_is_allowed", slowly(request(body=TASK), 0.005), 202, "open", server="patient"),
]  # fmt: skip

TABLE = framing + chunks + behind + heads + paths + bombs + fields + others + slow


class Hostile(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        flags = {
            "usual": [],
            "patient": ["--http-min-body-rate", "0"],
            "hasty": ["--http-header-timeout", "300ms", "--http-idle-timeout", "400ms", "--http-min-body-rate", "1MiB"],
        }
        cls.servers = {}
        for name, more in flags.items():
            cls.servers[name] = Server(*more)
            cls.addClassCleanup(cls.servers[name].close)

    def run_row(self, row):
        server = self.servers[row.server]
        with Raw(server.port) as raw:
            if isinstance(row.data, Slow):
                self.send_slowly(raw, row.data)
            else:
                raw.send(row.data)
            for status in row.before:
                answer = raw.answer()
                self.assertIsNotNone(answer, "closed before the first answers")
                self.assertEqual(answer.status, status, answer)
            if row.status is CLOSED:
                self.assertIsNone(raw.answer(), "an answer to what was not complete")
            else:
                self.check_answer(row, raw)
            if row.then == "open":
                # In step: not a byte of the request was left over, and none too much was taken.
                raw.send(request("GET", "/healthz", length=False))
                again = raw.answer()
                self.assertIsNotNone(again, "the connection was closed")
                self.assertEqual(again.status, 200, again)
                self.assertEqual(raw.buffer, b"")
            else:
                self.assertTrue(raw.is_closed(PATIENCE), "the connection stays open")
                self.assertEqual(raw.buffer, b"", "more than one answer")
        self.assertTrue(server.is_alive())
        self.assertEqual(server.good("GET", "/v1/tasks?queue=smuggled")["tasks"], [], "a request was smuggled in")

    def send_slowly(self, raw, slow):
        begun = time.monotonic()
        for at in range(0, len(slow.data), slow.at_once):
            raw.send(slow.data[at : at + slow.at_once])
            time.sleep(slow.gap)
            if time.monotonic() - begun > 3:  # by now it must have lost its patience
                return

    def check_answer(self, row, raw):
        answer = raw.answer()
        self.assertIsNotNone(answer, "closed without an answer")
        right = row.status if isinstance(row.status, tuple) else (row.status,)
        self.assertIn(answer.status, right, answer)
        if answer.status >= 400:
            check_problem(self, answer, row.field)
        if row.allow is not None:
            self.assertEqual(", ".join(sorted(answer.headers["allow"].split(", "))), row.allow)
        closes = answer.headers.get("connection") == "close"
        self.assertEqual(closes, row.then == "closed" and row.server != "hasty", answer)


def add_rows():
    names = [row.name for row in TABLE]
    assert len(set(names)) == len(names) >= 60, "names are names, and there are enough of them"
    for row in TABLE:

        def test(self, row=row):
            self.run_row(row)

        setattr(Hostile, f"test_{row.name}", test)


add_rows()

if __name__ == "__main__":
    unittest.main()
