"""A web application that computes with its users' own formulas.

    python formulas.py            # http://127.0.0.1:8080
    curl -s 127.0.0.1:8080/price -d '{"formula": "qty * price * 0.9", "rows": [{"qty": 2, "price": 5}]}'

A formula is any JavaScript expression over the columns of a row. It has two seconds, 16 MiB and no
access to anything; a formula that loops or throws costs its user an error message, and nobody else
anything.
"""

import asyncio
import json
import sys

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from sandbox_kernel import EngineBusyError, run_code

# The formula is data for the sandbox, compiled there as the body of a function of the row's columns.
SOURCE = """
import formula from './formula.js';
export default (rows) => rows.map((row) => formula(row));
"""


def module_of(formula, columns):
    """The user's text stands alone on its line: their error is in line 2, at their own column."""
    return f"export default ({{{', '.join(columns)}}}) => (\n{formula}\n);"


class Price(RequestHandler):
    async def post(self):
        try:
            request = json.loads(self.request.body)
            formula, rows = str(request["formula"]), list(request["rows"])
            columns = [name for name in rows[0] if name.isidentifier()]
        except (ValueError, KeyError, IndexError, TypeError):
            self.answer(400, error="send {formula: text, rows: [{column: value}]}")
            return
        modules = {"./formula.js": module_of(formula, columns)}
        limits = {"language": "javascript", "memory_limit_bytes": 16 * 2**20}
        try:
            run = run_code(SOURCE, execute={"args": [rows]}, modules=modules, **limits)
        except EngineBusyError:
            self.answer(503, error="busy; try again in a moment")
            return
        result = await run.terminate_after(2)
        if result.error is None:
            self.answer(200, values=result.to_json()["result"])
        else:
            self.answer(422, error=str(result.error), hint=result.error.hint)

    def answer(self, status, **body):
        self.set_status(status)
        self.write(body)


async def main(port=8080):
    sockets = bind_sockets(port, "127.0.0.1")
    HTTPServer(Application([("/price", Price)])).add_sockets(sockets)
    print(f"listening on port {sockets[0].getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
