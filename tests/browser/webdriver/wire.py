"""The words of W3C WebDriver, and the two ways in which browsers take them: by HTTP, and by Firefox's own socket."""

import json
import re
import socket
from contextlib import closing
from http.client import HTTPConnection
from typing import Any, Protocol

# Longer than any script of ours may take.
TIMEOUT_SECONDS = 90
SCRIPT_TIMEOUT = {"script": 10_000}


class Refused(Exception):
    """The browser's own words about a command that failed."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(f"{error}: {message}")


class Wire(Protocol):
    """One session. Commands go by WebDriver's paths, below the session's own."""

    def get(self, command: str) -> Any: ...

    def post(self, command: str, **body: Any) -> Any: ...

    def end(self) -> None: ...


class HttpWire:
    """As the standard has it."""

    def __init__(self, port: int, capabilities: dict[str, Any]) -> None:
        self.port = port
        self.prefix = ""
        wanted = {"alwaysMatch": capabilities | {"timeouts": SCRIPT_TIMEOUT}}
        begun = self.post("/session", capabilities=wanted)
        self.prefix = f"/session/{begun['sessionId']}"

    def get(self, command: str) -> Any:
        return self._send("GET", command)

    def post(self, command: str, **body: Any) -> Any:
        return self._send("POST", command, body)

    def end(self) -> None:
        self._send("DELETE", "")

    def _send(self, method: str, command: str, body: Any = None) -> Any:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)) as connection:
            content = None if body is None else json.dumps(body)
            connection.request(method, self.prefix + command, content)
            value = json.loads(connection.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise Refused(value["error"], value.get("message", ""))
        return value


class MarionetteWire:
    """The same words over the socket of Firefox, which needs no driver beside it."""

    NAMES = {
        "POST /back": "Back",
        "POST /forward": "Forward",
        "POST /refresh": "Refresh",
        "GET /url": "GetCurrentURL",
        "POST /url": "Navigate",
        "GET /window": "GetWindowHandle",
        "POST /window": "SwitchToWindow",
        "POST /window/new": "NewWindow",
        "GET /window/rect": "GetWindowRect",
        "POST /window/rect": "SetWindowRect",
        "POST /element": "FindElement",
        "POST /execute/async": "ExecuteAsyncScript",
        "POST /actions": "PerformActions",
        "GET /screenshot": "TakeScreenshot",
    }
    # A picture of what is in sight, as the standard has it, not of the whole page.
    IMPLIED = {"TakeScreenshot": {"full": False}}

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS)
        self.replies = self.socket.makefile("rb")
        self.sent = 0
        self._read()
        self._send("NewSession", {"timeouts": SCRIPT_TIMEOUT})

    def get(self, command: str) -> Any:
        return self._send(self.NAMES[f"GET {command}"], {})

    def post(self, command: str, **body: Any) -> Any:
        if into_element := re.fullmatch(r"/element/(.+)/value", command):
            return self._send("ElementSendKeys", {"id": into_element[1]} | body)
        return self._send(self.NAMES[f"POST {command}"], body)

    def end(self) -> None:
        self.replies.close()
        self.socket.close()

    def _send(self, name: str, body: dict[str, Any]) -> Any:
        self.sent += 1
        body = self.IMPLIED.get(name, {}) | body
        content = json.dumps([0, self.sent, f"WebDriver:{name}", body]).encode()
        self.socket.sendall(b"%d:%s" % (len(content), content))
        _, _, error, result = self._read()
        if error:
            raise Refused(error["error"], error["message"])
        return result["value"] if list(result) == ["value"] else result

    def _read(self) -> Any:
        """A number, a colon, and so many bytes of JSON."""
        length = b""
        while not length.endswith(b":"):
            if not (byte := self.replies.read(1)):
                raise ConnectionError("Firefox has gone away.")
            length += byte
        return json.loads(self.replies.read(int(length[:-1])))
