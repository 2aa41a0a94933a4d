"""The desk behind the SDK's server, in both eras of the protocol.

Until 2025-11-25 a server asks a person by a request of its own. Since 2026-07-28 its answer asks
(`InputRequiredResult`), and the client makes the same call again, with what the person said.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ... import __version__
from .answers import Answer
from .attending import Asks
from .desk import Desk, Refused, Reply, Round
from .offer import ANSWER
from .questions import Question

NAME = "sandbox-kernel"
_FORM = "approval"  # the key of the one form in a round
_INSTRUCTIONS = (
    "Runs code that nobody has to trust. Prefer one program that does the whole job over many small"
    " ones. A run that comes back as `running` goes on: use `wait`, or `stop`."
)

Context = ServerRequestContext[Any, Any]


def server_of(desk: Desk) -> Server[Any]:
    """Ready for any transport of the SDK, and for many connections at once."""

    async def list_tools(
        _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_tools(desk))

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        visitor = _Visitor(context)
        try:
            given = await desk.call(params.name, params.arguments or {}, visitor, _reply(params))
        except Refused as refusal:
            return _refused(str(refusal))
        return _asked(given) if isinstance(given, Round) else _answered(given)

    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title="Sandbox for code",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    seal = RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME)
    server.middleware.append(seal)
    return server


class _Visitor:
    """One request, as the desk sees it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.asks: Asks = _how_to_ask(context)

    async def progress(self, count: int, text: str) -> None:
        await self._context.session.report_progress(count, None, text)

    async def elicit(self, question: Question) -> tuple[str, Any]:
        given = await self._context.session.elicit_form(
            question.message, question.schema, related_request_id=self._context.request_id
        )
        return given.action, given.content


def _how_to_ask(context: Context) -> Asks:
    """Only clients that say so can show a form to a person."""
    capabilities = context.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return "never"
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return "by answer"
    return "by request" if context.session.can_send_request else "never"


def _tools(desk: Desk) -> list[types.Tool]:
    return [
        types.Tool(
            name=offer.name,
            description=offer.description,
            input_schema=offer.parameters,
            output_schema=ANSWER,
        )
        for offer in desk.offers.values()
    ]


def _reply(params: types.CallToolRequestParams) -> Reply | None:
    if params.request_state is None:
        return None
    given = (params.input_responses or {}).get(_FORM)
    if isinstance(given, types.ElicitResult):
        return Reply(params.request_state, given.action, given.content)
    return Reply(params.request_state)


def _asked(given: Round) -> types.InputRequiredResult:
    form = types.ElicitRequestFormParams(
        message=given.question.message, requested_schema=given.question.schema
    )
    return types.InputRequiredResult(
        input_requests={_FORM: types.ElicitRequest(params=form)}, request_state=given.state
    )


def _answered(answer: Answer) -> types.CallToolResult:
    """As structure for programs, as text for models, and pictures as such."""
    texts = [json.dumps(answer.shape, ensure_ascii=False), *answer.texts]
    content: list[types.ContentBlock] = [types.TextContent(text=text) for text in texts]
    content += [
        types.ImageContent(data=base64.b64encode(image.data).decode(), mime_type=image.mime)
        for image in answer.images
    ]
    return types.CallToolResult(content=content, structured_content=answer.shape)


def _refused(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)
