"""The realm's connection to the host: reports and logs, calls and replies, promises of the guest.

The bootstrap gets its native functions here, and can call nothing else outside the realm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from ..wire import messages
from ..wire.frame import Frame
from .channel import GATHER_SECONDS, Channel
from .entry import Entry, compile_bootstrap
from .heap import Heap
from .quickjs import REJECTED, UNDEFINED, Compiler, Context, GuestThrew, Value
from .rejections import Rejections

_NATIVE = b"({ __proto__: null, said: { __proto__: null, text: '' } })"
_REPLIES = {messages.RETURN: b"r", messages.THROW: b"t", messages.PROMISE: b"p"}
_PROMISE_STATES = (b"<pending>", b"<resolved>", b"<rejected>")


class Port:
    """Made in the zygote. Runs the bootstrap; `entry` has the functions that it returned."""

    def __init__(
        self,
        js: Context,
        compiler: Compiler,
        channel: Channel,
        rejections: Rejections,
        heap: Heap,
    ) -> None:
        self._js = js
        self._heap = heap
        self._channel = channel
        self._rejections = rejections
        self._flush_at = 0.0
        self.at_calls: Callable[[str, str], str] = _as_it_is
        self.line_of: Callable[[str], int] = _unknown  # in the guest's own module, of a stack
        self._early: dict[
            int, Frame | None
        ] = {}  # replies to the synchronous calls in progress; None until they arrive
        self._deferred: list[Frame] = []  # other messages that arrived during a synchronous call
        self._reply_buffers: Value = UNDEFINED
        self._watched: list[tuple[int, int, Value]] = []
        native = js.evaluate(compiler.compile(_NATIVE, "", module=False))
        self._said = js.field(native, "said")
        for name, function in self._natives().items():
            js.set_field(native, name, js.function(name, function))
        self.entry = Entry(js, js.call(js.evaluate(compile_bootstrap(compiler)), native))

    # -- native functions of the bootstrap

    def _natives(self) -> dict[str, Callable[[list[Value]], Value]]:
        return {
            "flush": self._native_flush,
            "say": self._native_say,
            "kind": self._native_kind,
            "promise": self._native_promise,
            "call": self._native_call,
            "callSync": self._native_call_sync,
            "buffers": self._native_buffers,
            "watch": self._native_watch,
            "error": self._native_error,
            "release": self._native_release,
            "exhausted": self._native_exhausted,
            "atCalls": self._native_at_calls,
            "utf8Decode": self._native_utf8_decode,
            "utf8Encode": self._native_utf8_encode,
        }

    def _native_flush(self, args: list[Value]) -> Value:
        self.flush()
        return UNDEFINED

    def _native_say(self, args: list[Value]) -> Value:
        js = self._js
        kind = messages.LOG if js.bytes_of(args[0]) == b"L" else messages.REPORT
        self._channel.post(kind, 0, 0, js.bytes_of(args[1]), self._views(args[2]))
        return UNDEFINED

    def _native_kind(self, args: list[Value]) -> Value:
        return self._js.string(self._js.kind(args[0]).encode())

    def _native_promise(self, args: list[Value]) -> Value:
        state = _PROMISE_STATES[self._js.promise_state(args[0])]
        return self._js.string(b"Promise { " + state + b" }")

    def _native_call(self, args: list[Value]) -> Value:
        self._post_call(args)
        return UNDEFINED

    def _native_call_sync(self, args: list[Value]) -> Value:
        self._post_call(args)
        return self._await_reply(self._js.integer(args[1]))

    def _native_buffers(self, args: list[Value]) -> Value:
        return self._reply_buffers

    def _native_watch(self, args: list[Value]) -> Value:
        self._watch(self._js.integer(args[0]), self._js.keep(args[1]), messages.RESOLVED)
        return UNDEFINED

    def _native_error(self, args: list[Value]) -> Value:
        return self._js.error()

    def _native_release(self, args: list[Value]) -> Value:
        self._channel.post(messages.RELEASED, 0, 0, self._js.bytes_of(args[0]))
        return UNDEFINED

    def _native_exhausted(self, args: list[Value]) -> Value:
        self._heap.note_exhaustion()
        return UNDEFINED

    def _native_at_calls(self, args: list[Value]) -> Value:
        """The stack of an error with this name, its frames at the calls that they are in."""
        name, stack = (self._js.bytes_of(each).decode("utf-8", "surrogatepass") for each in args)
        return self.string(self.at_calls(name, stack).encode("utf-8", "surrogatepass"))

    def _native_utf8_decode(self, args: list[Value]) -> Value:
        """The text of a view's bytes; `undefined` if they are no UTF-8 and the second argument is 1."""
        strict = self._js.integer(args[1]) == 1
        try:
            text = bytes(self._js.binary(args[0])).decode(
                "utf-8", "strict" if strict else "replace"
            )
        except UnicodeDecodeError:
            return UNDEFINED
        return self.string(text.encode())

    def _native_utf8_encode(self, args: list[Value]) -> Value:
        return self._js.array_buffer(self._js.bytes_of(args[0]))

    # -- reports and logs

    def flush(self) -> None:
        """Sends what the guest reported and logged.

        Only reads and writes a plain property, so that the interrupt handler can call it without
        running guest code.
        """
        self._post_said()
        self._channel.flush()

    def _post_said(self) -> None:
        text = self._js.take_field(self._said, "text")
        if text.startswith(b"["):
            self._channel.post(messages.CALLS, 0, 0, b"P[" + text[:-1] + b"]")
        elif text:
            self._channel.post(messages.SAID, 0, 0, text)

    def flush_if_late(self) -> None:
        """Called while bytecode runs, so that reports and logs do not wait for its end."""
        now = monotonic()
        if now > self._flush_at:
            self._flush_at = now + GATHER_SECONDS
            self.flush()

    # -- calls and replies

    def _post_call(self, args: list[Value]) -> None:
        js = self._js
        ident, call = js.integer(args[0]), js.integer(args[1])
        views = self._views(args[3])
        self._channel.post(messages.CALL, call, ident, js.bytes_of(args[2]), views)

    def _views(self, attachments: Value) -> Sequence[Any]:
        if attachments.tag == UNDEFINED.tag:
            return ()
        js = self._js
        views = []
        for index in range(js.integer(js.field(attachments, "length"))):
            element = js.element(attachments, index)
            views.append(js.binary(element))
            js.free(element)  # the array of attachments keeps it alive
        return views

    def _await_reply(self, call: int) -> Value:
        """Serves the host until it replies to this call; it may call guest functions first.

        A guest function may itself wait here, and then receive the reply to an outer call. All
        other messages wait until no synchronous call is left: they may be about a promise that the
        guest does not have yet, and no job runs before then anyway.
        """
        self._early[call] = None
        try:
            while (answer := self._early[call]) is None:
                frame = self._channel.receive_answer()
                if frame.kind in (messages.CALL_GUEST, messages.WHERE):
                    self.serve(frame)
                elif frame.kind in _REPLIES and self._early.get(frame.a, frame) is None:
                    self._early[frame.a] = frame
                else:
                    self._deferred.append(frame)
        finally:
            del self._early[call]
        if not self._early and self._deferred:
            deferred, self._deferred = self._deferred, []
            self._channel.unread(deferred)
        return self._reply(answer)

    def _reply(self, frame: Frame) -> Value:
        """A letter that says how the call ended, and its value, in one string for speed."""
        letter = _REPLIES[frame.kind]
        if frame.attachments:
            self._reply_buffers = self.buffers(frame)
            letter = b"b"
        return self.string(letter + bytes(frame.text))

    def string(self, text: bytes) -> Value:
        """Copies a text of the host into the realm."""
        try:
            return self._js.string(text)
        except GuestThrew:  # nothing but want of memory makes the engine refuse
            self._heap.note_exhaustion()
            raise

    def buffers(self, frame: Frame) -> Value:
        """Copies the attachments of a message into the realm."""
        if not frame.attachments:
            return UNDEFINED
        js = self._js
        try:
            return js.array([js.array_buffer(item) for item in frame.attachments])
        except GuestThrew:
            self._heap.note_exhaustion()
            raise

    def serve(self, frame: Frame) -> None:
        """Handles a message that arrives while the guest waits."""
        if frame.kind == messages.WHERE:
            self._tell_where(frame.a)
            return
        js, entry = self._js, self.entry
        text, buffers = self.string(bytes(frame.text)), self.buffers(frame)
        if frame.kind == messages.CALL_GUEST:
            promise = js.call(entry.call_guest, js.number(frame.b), text, buffers)
            self._watch(frame.a, promise, messages.GUEST_RETURN)
        elif frame.kind == messages.RETURNS:
            js.call(entry.settle_all, text)
        else:
            threw = js.boolean(frame.kind == messages.THROW)
            js.call(entry.settle, js.number(frame.a), threw, text, buffers)
        js.free(text)
        js.free(buffers)

    def _tell_where(self, call: int) -> None:
        """The frames of a call that waits now, or those that were noted when it was made."""
        if call in self._early:
            stack = self._js.frames()
        else:
            stack = self._taken(self._js.call(self.entry.site_of, self._js.number(call))).decode(
                "utf-8", "replace"
            )
        self._channel.post(messages.SITE, call, self.line_of(stack))
        self._channel.flush()

    # -- promises whose outcome is sent to the host

    def _watch(self, ident: int, promise: Value, kind: int) -> None:
        """Will send the promise's outcome: as `kind` if fulfilled, as `kind + 1` if rejected."""
        self._rejections.forget(promise)
        self._watched.append((ident, kind, promise))

    @property
    def owes_answer(self) -> bool:
        """Whether the host waits for a function of the guest."""
        return any(kind == messages.GUEST_RETURN for _, kind, _ in self._watched)

    def tell_settled(self) -> bool:
        """Sends the outcomes of watched promises that have settled; whether there were any."""
        if not self._watched:
            return False
        js, told = self._js, False
        watched, self._watched = self._watched, []
        for ident, kind, promise in watched:
            state = js.promise_state(promise)
            if not state:
                self._watched.append((ident, kind, promise))
                continue
            if not told:
                self._post_said()  # what was said before an answer is heard before it
            told = True
            self._rejections.forget(promise)
            result = js.promise_result(promise)
            failed, text, views = self._encode_outcome(result, state == REJECTED)
            if self._heap.was_over:
                return True  # which ends the run, instead of an answer
            self._channel.post(kind + failed, ident, 0, text, views)
            js.free(result)
            js.free(promise)
        return told

    def _encode_outcome(self, value: Value, threw: bool) -> tuple[int, bytes, Sequence[Any]]:
        if threw:
            return 1, self._taken(self._js.call(self.entry.encode_thrown, value)), ()
        try:
            return 0, *self.encode(value, lenient=False)
        except GuestThrew as thrown:
            outcome = self._encode_outcome(thrown.value, threw=True)
            self._js.free(thrown.value)
            return outcome

    def encode(self, value: Value, *, lenient: bool) -> tuple[bytes, Sequence[Any]]:
        """The wire text of a value, and its attachments, which are views of the realm's memory."""
        js = self._js
        text = self._taken(js.call(self.entry.encode_result, value, js.boolean(lenient)))
        if text.startswith(b"P"):
            return text, ()
        attachments = js.call(self.entry.attachments)
        views = self._views(attachments)
        js.free(attachments)  # the bootstrap keeps them until the next value
        return text, views

    def _taken(self, string: Value) -> bytes:
        """The UTF-8 of a string that is needed no longer."""
        try:
            return self._js.bytes_of(string)
        finally:
            self._js.free(string)


def _unknown(_stack: str) -> int:
    return 0


def _as_it_is(_name: str, stack: str) -> str:
    return stack
