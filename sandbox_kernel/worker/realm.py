"""One realm and its one run: install what was lent, link, evaluate, run jobs until all is settled.

A run that fails before evaluation has the status `link_error`, one that fails later `error`.
"""

from __future__ import annotations

import json
from functools import partial
from time import time
from typing import Any

from ..errors import EngineError
from ..wire import messages
from ..wire.frame import Frame
from ..wire.order import Order
from .channel import Channel
from .failure import Describer, Failure, out_of_memory
from .findings import Findings
from .heap import HEADROOM, Heap
from .lending import Lending
from .linking import Linker
from .port import Port
from .positions import Sources
from .quickjs import REJECTED, UNDEFINED, Compiler, Context, GuestThrew, Value
from .rejections import Rejections
from .whereabouts import Whereabouts


class Realm:
    """Made in the zygote. Each worker has a fresh copy of it, and runs one order in it."""

    def __init__(self, compiler: Compiler, channel: Channel) -> None:
        self._compiler = compiler
        self._channel = channel
        self._js = js = Context()
        self._heap = Heap(js)
        self._rejections = Rejections(js)
        self._port = Port(js, compiler, channel, self._rejections, self._heap)
        self._entry = entry = self._port.entry
        sources = Sources()
        self._findings = Findings(sources, self._heap)
        self._whereabouts = Whereabouts(js, channel, self._findings)
        self._describer = Describer(js, entry, self._heap, sources, self._findings)
        self._lending = Lending(js, compiler, entry)
        self._sources = sources
        self._linker = Linker(js, compiler, entry, sources, self._describer, self._lending)
        self._default = js.string(b"default")
        self._is_evaluated = False
        js.on_interrupt(self._on_interrupt)
        js.on_rejection(self._rejections.note)
        js.last_frames()  # those of errors made here are nobody's
        self._heap.count_from_here()
        reseed = js.reseeder()
        if reseed is None:
            raise EngineError(
                "Math.random of this build of QuickJS-NG cannot be seeded: its state was not found"
            )
        self._reseed = reseed

    def _on_interrupt(self) -> bool:
        """Called regularly while bytecode runs; True stops the run, whose heap is over its limit."""
        self._port.flush_if_late()
        self._whereabouts.tell_if_late()
        return self._heap.is_over()

    def run(self, frame: Frame) -> None:
        order = Order.unpack(bytes(frame.text))
        self._reseed(order.seed)
        self._port.at_calls = self._findings.at_calls
        self._port.line_of = partial(self._sources.line_in, order.filename)
        self._compiler.limit(order.memory_limit + HEADROOM)
        self._heap.limit(order.memory_limit)
        try:
            self._obey(order, frame)
        except Failure as failure:
            self._fail(failure)
        except GuestThrew as thrown:
            self._fail(self._describer.failure(thrown.value))

    def _obey(self, order: Order, frame: Frame) -> None:
        if order.is_script:
            self._finish(self._evaluate_script(order), order)
            return
        module, args, calls = self._evaluate(order, frame)
        if order.stays_open:
            self._stay_open(module, order)
        else:
            self._finish(self._execute(order, module, args, calls), order)

    def _finish(self, value: Value, order: Order) -> None:
        text, views = self._port.encode(value, lenient=order.lenient)
        self._send_output()
        if self._heap.is_over():
            raise out_of_memory()
        self._channel.post(messages.FINISHED, self._heap.kilobytes(), 0, text, views)
        self._channel.flush()

    def _fail(self, failure: Failure) -> None:
        if self._heap.was_over:
            failure.fields |= {"status": "memory", "engine": True}
        self._send_output()
        text = json.dumps(failure.fields).encode()
        self._channel.post(messages.FAILED, self._heap.kilobytes(), 0, text)
        self._channel.flush()

    def _evaluate(self, order: Order, frame: Frame) -> tuple[Any, Value, bool]:
        """The evaluated module, the arguments for its export, and whether that may be called."""
        linker = self._linker
        lent = self._port.string(order.values.encode()) if order.values else UNDEFINED
        args = self._lending.install(order, lent, self._port.buffers(frame))
        linker.begin(order)
        self._findings.begin(order)
        prepared = linker.prepare(
            order.source, order.filename, last_expression=order.wants_last_expression
        )
        value, module = linker.link(prepared, order.filename)
        self._await(linker.start(value))
        self._is_evaluated = True
        return module, args, not prepared.shows_last

    def _execute(self, order: Order, module: Any, args: Value, calls: bool) -> Value:
        """The value of the selected export."""
        js, name = self._js, self._default
        if order.fn != "default":
            name = js.string(order.fn.encode("utf-8", "surrogatepass"))
        namespace = js.namespace(module)
        promise = js.call(self._entry.execute, namespace, name, args, js.boolean(calls))
        if js.is_promise(promise):
            return self._await(promise)
        if order.wants_last_expression:
            return UNDEFINED
        raise self._no_export(order.fn, namespace)

    def _no_export(self, name: str, namespace: Value) -> Failure:
        js = self._js
        failure = Failure("link_error", "LinkError", f"the module has no export '{name}'")
        failure.fields["exports"] = json.loads(
            js.bytes_of(js.call(self._entry.export_names, namespace))
        )
        return failure

    def _evaluate_script(self, order: Order) -> Value:
        self._lending.install_for_script(
            self._port.string(order.values.encode("utf-8", "surrogatepass"))
        )
        self._linker.begin(order)
        self._linker.run_script(order.source, order.filename)
        return UNDEFINED

    def _stay_open(self, module: Any, order: Order) -> None:
        """Serves calls of the module's exports, until the host ends this process."""
        js, port, channel = self._js, self._port, self._channel
        self._rejections.expect(UNDEFINED)
        text = js.bytes_of(js.call(self._entry.open_exports, js.namespace(module)))
        self._send_output()
        channel.post(messages.OPENED, 0, 0, text)
        while True:
            self._run_jobs()
            if self._heap.is_over():
                raise out_of_memory()
            if port.tell_settled():
                continue
            if order.one_call_at_a_time and port.owes_answer and not channel.has_more():
                self._prepare_to_wait()
            elif not channel.has_more():
                self._whereabouts.leave()
                self._send_output()
            port.serve(channel.receive())

    def _await(self, promise: Value) -> Value:
        """The promise's value; serves the host until it is settled."""
        js, port = self._js, self._port
        self._rejections.expect(promise)
        while True:
            self._run_jobs()
            state = js.promise_state(promise)
            self._rejections.forget(promise)
            if state == REJECTED:
                raise self._describer.failure(js.promise_result(promise))
            if state:
                return js.promise_result(promise)
            if port.tell_settled():
                continue
            if not self._channel.has_more():
                self._prepare_to_wait()
            port.serve(self._channel.receive())

    def _run_jobs(self) -> None:
        more = True
        while more:
            more = self._js.run_jobs()
            if self._heap.was_over:
                raise out_of_memory()

    def _prepare_to_wait(self) -> None:
        """Sends output; raises if no message of the host could settle anything."""
        self._whereabouts.leave()
        self._send_output()
        if not self._js.integer(self._js.call(self._entry.waits)):
            raise Failure(
                "error",
                "DeadlockError",
                "the module awaits a promise that nothing can settle any more",
                place=None if self._is_evaluated else self._findings.waits_at(),
            )

    def _send_output(self) -> None:
        """Sends reports and logs that are still gathered, then unhandled rejections as logs."""
        self._port.flush()
        for reason in self._rejections.take():
            failure = self._describer.rejection(reason).fields
            self._js.free(reason)
            text = f"Uncaught (in promise) {failure['name']}: {failure['message']}"
            if failure["line"] is not None:
                text += f"\n    at {failure['filename']}:{failure['line']}:{failure['column']}"
            entry = ["error", messages.UNCAUGHT, 0, round(time() * 1000), [text]]
            self._channel.post(messages.LOG, 0, 0, b"P" + json.dumps(entry).encode())
