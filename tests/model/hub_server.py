"""A small model hub on the loopback, for hub_test.cpp.

usage: hub_server.py FOLDER

Serves FOLDER/files and prints its port. Each request adds a line (method, path, range) to
FOLDER/log. FOLDER/behaviour.json, read anew each time, may hold:
  no_ranges: true        Range is ignored
  wrong_range: true      another range than asked for is sent
  cut_after: N           the connection is closed after N bytes of a body
  endless: true          the body is longer than it should be
  status: {name: code}   what is answered for the files of that name
  redirect: true         each file is first redirected
"""

import http.server
import json
import os
import re
import sys

FOLDER = sys.argv[1]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, with_body):
        with open(os.path.join(FOLDER, "log"), "a") as log:
            log.write(f"{self.command} {self.path} {self.headers.get('Range', '-')}\n")
        try:
            with open(os.path.join(FOLDER, "behaviour.json")) as file:
                behaviour = json.load(file)
        except FileNotFoundError:
            behaviour = {}
        status = behaviour.get("status", {}).get(os.path.basename(self.path))
        path = os.path.join(FOLDER, "files", self.path.replace("/moved", "").lstrip("/"))
        if status is None and not os.path.isfile(path):
            status = 404
        if status is None and behaviour.get("redirect") and not self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", "/moved" + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif status is not None:
            self.send_body(status, b"the reason, in words", {}, with_body, {})
        else:
            with open(path, "rb") as file:
                self.send_file(file.read(), behaviour, with_body)

    def send_file(self, body, behaviour, with_body):
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if behaviour.get("endless"):
            body += body + b"more"
        if not wanted or behaviour.get("no_ranges"):
            self.send_body(200, body, {}, with_body, behaviour)
            return
        first = int(wanted.group(1)) + (1 if behaviour.get("wrong_range") else 0)
        if first >= len(body):
            self.send_body(416, b"", {"Content-Range": f"bytes */{len(body)}"}, with_body, {})
            return
        span = {"Content-Range": f"bytes {first}-{len(body) - 1}/{len(body)}"}
        self.send_body(206, body[first:], span, with_body, behaviour)

    def send_body(self, status, body, headers, with_body, behaviour):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not with_body:
            return
        cut = behaviour.get("cut_after", len(body))
        self.wfile.write(body[:cut])
        if cut < len(body):
            self.close_connection = True

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
