"""A small loop: a model, its tools, its memory, and the events of its work."""

from __future__ import annotations

from .events import AgentEvent
from .loop import NoAnswerError, run_agent
from .memory import SessionMemoryStore
from .model import Model, ModelCall, ModelError, ScriptedModel, Turn
from .openai import OpenAICompatibleModel

__all__ = [
    "AgentEvent",
    "Model",
    "ModelCall",
    "ModelError",
    "NoAnswerError",
    "OpenAICompatibleModel",
    "ScriptedModel",
    "SessionMemoryStore",
    "Turn",
    "run_agent",
]
