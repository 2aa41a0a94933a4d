"""An agent that answers by running code, and asks you before it runs any.

    python agent.py "What is 25 factorial?"

With LLM_BASE_URL, LLM_API_KEY and LLM_MODEL set it asks that model, any OpenAI-compatible one.
Without them it plays a script, so that you can see the loop work.
"""

import asyncio
import os
import sys

from sandbox_kernel.agents import OpenAICompatibleModel, ScriptedModel, run_agent
from sandbox_kernel.permissions import ApprovalChoice, InMemoryPermissionStore, permission_gate
from sandbox_kernel.tools import PythonBackend, code_execution_tool

CALL = {"language": "python", "code": "import math\nprint(math.factorial(25))"}
SCRIPT = [[{"name": "code_execution", "args": CALL}], "25! is 15511210043330985984000000."]


class Terminal:
    def ask(self, batch):
        return [self.choice(request) for request in batch]

    def choice(self, request):
        code = "".join(
            c if c.isprintable() or c == "\n" else ascii(c) for c in request.args["code"]
        )
        print(f"\nThe model wants to run:\n\n{code}\n")  # nothing in it can hide on a terminal
        said = input("Allow it? [y/N] ").strip().lower()
        return ApprovalChoice.ALLOW_ONCE if said == "y" else ApprovalChoice.DENY_ONCE


def show(event):
    if event.type == "tool_end":
        print(f"{'error' if event.is_error else 'result'}: {event.result}")


async def main(prompt):
    model = OpenAICompatibleModel() if os.environ.get("LLM_API_KEY") else ScriptedModel(SCRIPT)
    tool = code_execution_tool(PythonBackend(timeout_ms=5_000))
    gate = permission_gate(InMemoryPermissionStore(), Terminal())
    print(
        await run_agent(model, prompt, tools=[tool], hooks={"gate_tool_calls": gate}, on_event=show)
    )


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "What is 25 factorial?"))
