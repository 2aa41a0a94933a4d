"""Sessions: ids under which the files of programs are kept."""

from .lease import Lease
from .workspaces import Workspace, Workspaces

__all__ = ["Lease", "Workspace", "Workspaces"]
