"""Starting the kernel: the engine first, since its processes get ready while we import Jupyter."""

from __future__ import annotations

import gc


def launch() -> None:
    """Run until a front end says shutdown."""
    from ..run import warm_up

    warm_up()

    from ipykernel.kernelapp import IPKernelApp

    from ..engine import Engine
    from .kernel import SandboxKernel

    class SandboxKernelApp(IPKernelApp):
        """ipykernel's application without what serves IPython alone."""

        name = "sandbox-kernel"

        classes = [*IPKernelApp.classes, SandboxKernel, Engine]  # noqa: RUF012  # as traitlets has it

        def init_pdb(self) -> None:
            """No debugger here."""

        def init_kernel(self) -> None:
            """The engine was there before the configuration was read."""
            Engine.instance().update_config(self.config)
            gc.freeze()  # what is loaded stays: no need to look it over while a cell floods
            super().init_kernel()  # type: ignore[no-untyped-call]  # ipykernel's

    SandboxKernelApp.launch_instance(kernel_class=SandboxKernel, outstream_class=None)
