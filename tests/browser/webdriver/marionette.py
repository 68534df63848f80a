"""Selenium's commands over the socket that Firefox opens for geckodriver, which Debian does not offer."""

import json
import socket
from typing import Any

from selenium.webdriver.remote.command import Command

TIMEOUT_SECONDS = 90
# What the protocol of Firefox calls the commands of our pages.
NAMES = {
    Command.NEW_SESSION: "NewSession",
    Command.QUIT: "DeleteSession",
    Command.SET_TIMEOUTS: "SetTimeouts",
    Command.GET: "Navigate",
    Command.GET_CURRENT_URL: "GetCurrentURL",
    Command.GO_BACK: "Back",
    Command.GO_FORWARD: "Forward",
    Command.REFRESH: "Refresh",
    Command.NEW_WINDOW: "NewWindow",
    Command.SWITCH_TO_WINDOW: "SwitchToWindow",
    Command.W3C_GET_CURRENT_WINDOW_HANDLE: "GetWindowHandle",
    Command.GET_WINDOW_RECT: "GetWindowRect",
    Command.SET_WINDOW_RECT: "SetWindowRect",
    Command.FIND_ELEMENT: "FindElement",
    Command.SEND_KEYS_TO_ELEMENT: "ElementSendKeys",
    Command.W3C_EXECUTE_SCRIPT_ASYNC: "ExecuteAsyncScript",
    Command.W3C_ACTIONS: "PerformActions",
}


class Marionette:
    """Messages are JSON, each after its length and a colon."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS)
        self.replies = self.socket.makefile("rb")
        self._read()

    def execute(self, command: str, params: dict[str, Any]) -> dict[str, Any]:
        # The socket is the session, and whoever opens it asks for one set of capabilities.
        params = params.get("capabilities", {}).get("alwaysMatch", params)
        params = {name: value for name, value in params.items() if name != "sessionId"}
        content = json.dumps([0, 0, f"WebDriver:{NAMES[command]}", params]).encode()
        self.socket.sendall(b"%d:%s" % (len(content), content))
        _, _, error, result = self._read()
        if error:
            return {"status": error["error"], "value": error}
        return result if list(result) == ["value"] else {"value": result}

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            if not (byte := self.replies.read(1)):
                raise ConnectionError("Firefox has gone away.")
            length += byte
        return json.loads(self.replies.read(int(length[:-1])))

    def close(self) -> None:
        self.replies.close()
        self.socket.close()
