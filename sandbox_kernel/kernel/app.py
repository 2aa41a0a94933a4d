"""Starts the kernel: the engine first, so that its processes get ready while Jupyter is imported."""

from __future__ import annotations

import gc


def launch() -> None:
    """Runs until a front end asks for shutdown."""
    from ..run import warm_up

    warm_up()

    from ipykernel.kernelapp import IPKernelApp
    from traitlets import TraitError

    from ..engine import Engine
    from ..errors import OptionError
    from .kernel import SandboxKernel

    class SandboxKernelApp(IPKernelApp):
        """ipykernel's application, without the parts that only IPython needs."""

        name = "sandbox-kernel"

        classes = [*IPKernelApp.classes, SandboxKernel, Engine]  # noqa: RUF012  # how traitlets declares it

        def init_pdb(self) -> None:
            """This kernel has no debugger."""

        def init_kernel(self) -> None:
            """Configures the engine, which was started before the configuration was read."""
            try:
                Engine.check_names(self.config.get("Engine", ()))
            except OptionError as error:
                raise TraitError(str(error)) from None  # which ends an application with its message
            Engine.instance().update_config(self.config)
            gc.freeze()  # what is loaded by now stays; collecting garbage need not scan it
            super().init_kernel()  # type: ignore[no-untyped-call]  # ipykernel's

    SandboxKernelApp.launch_instance(kernel_class=SandboxKernel, outstream_class=None)
