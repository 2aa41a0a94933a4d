"""A notebook that asks: what it shows and types, and how a page or a person answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.clients import VIEW, Client, Done


@contextmanager
def asking_client(kernel: str, folders: pytest.TempPathFactory) -> Iterator[Client]:
    """Its user has a configuration, and its notebook a folder (the current one), of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folders.mktemp("config")))
        patch.chdir(folders.mktemp("project"))
        client = Client.start(kernel)
        try:
            yield client
        finally:
            client.close()


def typed(client: Client, code: str, *answers: str) -> tuple[Done, list[str]]:
    """Runs a cell and answers each `input()`; the prompts."""
    cell = client.send(code, allow_stdin=True)
    prompts = []
    for answer in answers:
        request = client.channels.get_stdin_msg(timeout=60)
        prompts.append(request["content"]["prompt"])
        client.channels.input(answer)
    return client.finish(cell), prompts


def cards_of(client: Client, cell: str, count: int) -> tuple[str, list[dict[str, Any]]]:
    """The view's model and its cards, once there are so many; from the messages of its comm."""
    model = client.wait_for(cell, "display_data", lambda each: VIEW in each["data"])
    ident = model["data"][VIEW]["model_id"]

    def has_cards(message: dict[str, Any]) -> bool:
        asks = message["data"].get("state", {}).get("asks", [])
        return message["comm_id"] == ident and len(asks) == count

    found = client.wait_for(cell, "comm_msg", has_cards)
    return ident, found["data"]["state"]["asks"]


def tell(client: Client, model: str, **content: Any) -> None:
    data = {"method": "custom", "content": content}
    client.tell("comm_msg", {"comm_id": model, "data": data})
