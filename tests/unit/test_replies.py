"""The code in a model's reply: between fences, in several blocks, or all of it."""

from __future__ import annotations

import time

import pytest

from sandbox_kernel import evaluate, extract_code

REPLIES = {
    "a_block": ("Here you are:\n\n```ts\nconst a = 1;\na\n```\nIt gives 1.", "const a = 1;\na"),
    "only_a_block": ("```javascript\n1 + 1\n```", "1 + 1"),
    "a_block_without_a_language": ("Sure!\n```\n1\n```", "1"),
    "a_block_with_more_than_a_language": ('```ts title="a.ts"\n1\n```', "1"),
    "in_capitals": ("```TypeScript\n1\n```", "1"),
    "no_block": ("const a = 1;\na", "const a = 1;\na"),
    "no_block_but_space": ("\n\n  a\n", "  a"),
    "several_blocks": ("First:\n```ts\nconst a = 1;\n```\nthen:\n```ts\na\n```", "const a = 1;\n\na"),
    "other_languages_beside_it": ("```sh\nnpm i x\n```\n```js\n1\n```\n```json\n{}\n```", "1"),
    "a_mark_beats_none": ("```\noutput\n```\n```ts\n1\n```", "1"),
    "only_another_language": ("```python\nprint(1)\n```\n```sh\nls\n```", "print(1)"),
    "a_block_that_never_ends": ("```ts\nconst a = 1;\na", "const a = 1;\na"),
    "tildes": ("~~~ts\n1\n~~~", "1"),
    "fences_within_a_longer_fence": ("````ts\nconst t = '\n```\n';\n````", "const t = '\n```\n';"),
    "backticks_in_the_code": ("```ts\nconst t = `a\n${b}`;\n```", "const t = `a\n${b}`;"),
    "an_item_of_a_list": ("1. do this:\n   ```ts\n   if (a) {\n     b\n   }\n   ```", "if (a) {\n  b\n}"),
    "windows_lines": ("```ts\r\nconst a = 1;\r\na\r\n```\r\n", "const a = 1;\na"),
    "thoughts": ("<think>maybe\n```ts\nwrong\n```\n</think>\n```ts\nright\n```", "right"),
    "an_empty_block": ("```ts\n```\n```ts\n1\n```", "1"),
    "inline_code": ("Use `a` and ```b``` here", "Use `a` and ```b``` here"),
    "nothing": ("", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", REPLIES)
def test_the_code_is_taken_out(case: str) -> None:
    reply, code = REPLIES[case]
    assert extract_code(reply) == code


def test_what_was_taken_out_runs() -> None:
    reply = "Sure! This sums them up:\n\n```ts\nconst sum = (a: number, b: number) => a + b;\n```\n\n```ts\nrows.reduce(sum)\n```"
    assert evaluate(extract_code(reply), globals={"rows": [1, 2, 3]}).wait(30).unwrap() == 6


def test_anything_but_text_is_refused() -> None:
    with pytest.raises(TypeError, match="reply must be a string, not NoneType"):
        extract_code(None)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    "unit", ["```\n", "`", "```ts ", "~~~\n```\n", "</think>", " " * 50 + "\n"]
)
def test_a_long_reply_takes_linear_time(unit: str) -> None:
    started = time.thread_time()
    extract_code(unit * (1_000_000 // len(unit)))
    assert time.thread_time() - started < 10
