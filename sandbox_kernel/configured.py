"""Settings as traits, configurable like anything in Jupyter; a name that is none is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from traitlets.config import Configurable

from .errors import OptionError
from .spelling import suggestion

_OURS = __name__.partition(".")[0]


class Configured(Configurable):
    """A setting that does not exist would otherwise be kept, and do nothing.

    Not a singleton itself: singletons that share a base exclude each other.
    """

    def __init__(self, **traits: Any) -> None:
        self.check_names(traits)
        super().__init__(**traits)
        self.check_names(self.config.get(type(self).__name__, ()))

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(self)  # somebody else's subclass may have attributes of its own
        if not (name.startswith("_") or hasattr(kind, name)) and _is_ours(kind):
            self.check_names([name])
        super().__setattr__(name, value)

    @classmethod
    def check_names(cls, names: Iterable[str]) -> None:
        """Raises `OptionError`, with the nearest name, if one is not that of a setting."""
        for name in names:
            if name not in cls.class_traits():
                known = suggestion(name, sorted(cls.class_trait_names(config=True)))
                raise OptionError(f"{cls.__name__} has no setting {name!r}; {known}", name)


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == _OURS
