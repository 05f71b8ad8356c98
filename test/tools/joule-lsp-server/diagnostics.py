"""What an editor gets to know of a .mlir file of Joule's dialects: errors where they are, and what an op is on hover."""
# RUN: %python %s

import json
import subprocess

GOOD = """func.func @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = arith.addf %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @rows(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
"""
# The contraction's sizes differ: 3 columns, 5 rows.
BAD = GOOD.replace("3x4xf32", "5x4xf32")


class Server:
    def __init__(self):
        self.process = subprocess.Popen(["joule-lsp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last = 0

    def send(self, method, params, **more):
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.last += 1
        self.send(method, params, id=self.last)
        while (answer := self.receive()).get("id") != self.last:
            pass
        return answer["result"]

    def open(self, uri, text):
        """The diagnostics of a document."""
        self.send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": text}})
        while (note := self.receive()).get("method") != "textDocument/publishDiagnostics" or note["params"]["uri"] != uri:
            pass
        return note["params"]["diagnostics"]


def main():
    server = Server()
    capabilities = server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["capabilities"]
    assert capabilities["hoverProvider"] and capabilities["definitionProvider"], capabilities
    assert server.open("test:///good.mlir", GOOD) == []
    problems = server.open("test:///bad.mlir", BAD)
    assert len(problems) == 1 and problems[0]["range"]["start"]["line"] == 5, problems
    assert "nn.contract" in problems[0]["message"], problems
    place = {"textDocument": {"uri": "test:///good.mlir"}, "position": {"line": 5, "character": 10}}
    hover = server.ask("textDocument/hover", place)
    assert "nn.contract" in hover["contents"]["value"], hover
    server.ask("shutdown", None)
    server.send("exit", None)
    assert server.process.wait(30) == 0, server.process.returncode


main()
