import { expect, it } from "vitest";

import { streamRules } from "./streams.ts";

const over = (...sequence: readonly string[]) => ({ sequence: [...sequence], isOver: true });
const open = (...sequence: readonly string[]) => ({ sequence: [...sequence], isOver: false });

it.each([
  ["a whole stream", over("start", "chunk", "done"), []],
  ["one that fails", over("start", "error"), []],
  ["one that fails after a chunk", over("start", "chunk", "error"), []],
  ["one that was left", open("start", "chunk"), []],
  ["one that was left before its first event", open(), []],
  ["one that ends before its first event", over(), ["SSE-4", "SSE-5"]],
  ["one that just ends", over("start", "chunk"), ["SSE-5"]],
  ["one without a start", over("chunk", "done"), ["SSE-4"]],
  ["one whose start comes late", over("chunk", "start", "chunk", "done"), ["SSE-4", "SSE-6"]],
  ["one that starts twice", over("start", "chunk", "start", "done"), ["SSE-4"]],
  ["one without content", over("start", "done"), ["SSE-6"]],
  ["one without content that was left after its end", open("start", "done"), ["SSE-6"]],
  ["one whose content follows its end", over("start", "done", "chunk"), ["SSE-5", "SSE-6"]],
  ["one that is done after a failure", over("start", "error", "done"), ["SSE-5"]],
  ["one that ends twice", open("start", "chunk", "done", "done"), ["SSE-5"]],
  ["one with an event of another name", over("start", "done", "ping"), ["SSE-2"]],
  ["one of other names alone", over("begin", "end"), ["SSE-2"]],
])("judges the order of %s", (_, stream, broken) => {
  expect(
    streamRules.filter(({ judge }) => typeof judge(stream) === "string").map(({ clause }) => clause),
  ).toStrictEqual(broken);
});
