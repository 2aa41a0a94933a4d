"""`sandbox-kernel serve`: reads the settings, and serves until it is told to stop."""

from __future__ import annotations

import asyncio
import os

from .flags import traits_of
from .logs import start_logging
from .server import serve
from .service import Service
from .settings import Settings


def run_service(words: list[str]) -> None:
    """OptionError, before anything is started, if it must not be started like this."""
    settings = Settings(**traits_of(words, os.environ))
    settings.check()
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    logging = start_logging()
    service = Service(settings)
    try:
        await serve(service)
    finally:
        service.close()
        logging.stop()
