import type { StreamStep } from "../behaviour/execution.ts";
import { fieldsOf, setField } from "../json-edit.ts";
import {
  always,
  overrideByCount,
  overrideErrorCode,
  overrideJson,
  overrideResult,
  variant,
  variants,
} from "../patch.ts";

const maxStreamMs = 60_000;

function limitDuration(steps: readonly StreamStep[]): readonly StreamStep[] {
  let waitedMs = 0;
  const cut = steps.findIndex((step) => {
    waitedMs += step.kind === "wait" ? step.ms : 0;
    return waitedMs > maxStreamMs;
  });
  if (cut === -1) return steps;
  return [
    ...steps.slice(0, cut),
    { kind: "error", ending: { kind: "error", cause: "timeout", retryAfterSeconds: null } },
  ];
}

export const streamVariants = variants("Events / Stream events (SSE)", {
  "session-of-own-name": variant("`start` names a session by a name of the server's own.").by(
    overrideJson("startData")((data, { sessionId }) => setField(data, "session_id", `own:${sessionId}`)),
    ["SSE-35"],
  ),
  "sessions-of-streams-apart": variant("A session of streams is not the session of invokes that has its name.").by(
    (base) => ({
      conversationKey: (facts) => base.conversationKey({ ...facts, session: `${facts.endpoint} ${facts.session}` }),
    }),
  ),
  "sse-crlf": variant("Lines end in CRLF.").by(() => ({
    encodeEvent: (name, data) => [`event: ${name}\r\ndata: ${data}\r\n\r\n`],
  })),
  "sse-cr": variant("Lines end in CR.").by(() => ({
    encodeEvent: (name, data) => [`event: ${name}\rdata: ${data}\r\r`],
  })),
  "sse-comments": variant("Comments and keep-alives stand before and between the events.").by((base) => ({
    bytesBeforeEvents: () => [": welcome\n\n"],
    encodeEvent: (name, data, number) => [":\n", ...base.encodeEvent(name, data, number), ": keep-alive\n\n"],
  })),
  "sse-bom": variant("The stream begins with a byte-order mark.").by(always("bytesBeforeEvents", ["\ufeff"])),
  "sse-id-retry": variant("Events have `id:` and `retry:` fields.").by(() => ({
    encodeEvent: (name, data, number) => [`id: ${number}\nretry: 3000\nevent: ${name}\ndata: ${data}\n\n`],
  })),
  "sse-data-first": variant("The `data:` line precedes the `event:` line.").by(() => ({
    encodeEvent: (name, data) => [`data: ${data}\nevent: ${name}\n\n`],
  })),
  "sse-no-blank": variant("No blank follows the colons.").by(() => ({
    encodeEvent: (name, data) => [`event:${name}\ndata:${data}\n\n`],
  })),
  "sse-split-data": variant("`data:` is split over several lines.").by(() => ({
    eventText: (data) => JSON.stringify(data, null, 1),
    encodeEvent: (name, data) => [`event: ${name}\n${data.replace(/^/gm, "data: ")}\n\n`],
  })),
  "sse-split-bytes": variant("Every byte is a write of its own.").by((base) => ({
    encodeEvent: (name, data, number) =>
      base.encodeEvent(name, data, number).flatMap((write) => {
        const bytes = Buffer.from(write);
        return Array.from(bytes, (_byte, at) => bytes.subarray(at, at + 1));
      }),
  })),
  "no-chunk-index": variant("Chunks have no `index`.").by(overrideJson("chunkData").remove("index")),
  "index-from-1": variant("`index` counts from 1.").by(
    overrideJson("chunkData")((data, { index }) => setField(data, "index", index + 1)),
  ),
  "no-session-id": variant("`start` has no `session_id`.").by(overrideJson("startData").remove("session_id")),
  "done-total-only": variant("`usage` of `done` has `total_tokens` only.").by(
    overrideJson("doneData")((data, { prompt, completion }) =>
      setField(data, "usage", { total_tokens: prompt + completion }),
    ),
  ),
  "failure-with-retry": variant("Every error of a stream has `retry_after`, a fraction.").by(
    overrideJson("streamErrorData").set("retry_after", 2.5),
  ),
  "closes-late": variant("The stream stays open for a moment behind its end.").by(
    overrideResult("planSteps")((steps) => [...steps, { kind: "turns", count: 50 }]),
  ),
  "leaving-noticed-late": variant("A lost client is noticed at the next write.").by(
    always("noticesDisconnect", "at the next write"),
  ),
  "stream-parameters-ignored": variant("`resume_from_index`, `stream_delay_ms` and `chunk_size` change nothing.").by(
    (base) => ({
      resumeChunks: (pieces) => pieces,
      chunkIntervalMs: (agentMs) => agentMs,
      splitText: (text) => base.splitText(text, null),
    }),
  ),
  "resume-counts-anew": variant("A resumed stream counts its chunks from 0 again.").by((base) => ({
    resumeChunks: (pieces, parameters) =>
      base.resumeChunks(pieces, parameters).map((chunk, index) => ({ ...chunk, index })),
  })),
  "chunk-size-in-words": variant("`chunk_size` is a number of words.").by((base) => ({
    splitText: (text, chunkSize) => {
      const words = base.splitText(text, null);
      const size = chunkSize ?? 1;
      const count = Math.ceil(words.length / size);
      return Array.from({ length: count }, (_, at) => words.slice(at * size, (at + 1) * size).join(""));
    },
  })),
  "stream-of-a-minute": variant("A stream that lasts longer than a minute ends in an error.").by(
    overrideResult("planSteps")(limitDuration),
  ),
  "index-falls": variant("`index` falls.").by(
    overrideJson("chunkData")((data, { index }) => setField(data, "index", 10_000 - index)),
    ["SSE-11"],
  ),
  "index-stays": variant("`index` is the same on every chunk.").by(overrideJson("chunkData").set("index", 0), [
    "SSE-11",
  ]),
  "index-on-some": variant("Every second chunk has no `index`.").by(
    overrideJson("chunkData")
      .when(({ index }) => index % 2 === 1)
      .remove("index"),
    ["SSE-11"],
  ),
  "index-wavers": variant("`index` counts from 0 in one stream and from 1 in the next.").by(
    overrideByCount("planSteps")((steps, count) =>
      steps.map((step) => {
        if (step.kind !== "chunk") return step;
        return { ...step, chunk: { ...step.chunk, index: step.chunk.index + (count % 2) } };
      }),
    ),
  ),
  "index-skips": variant("`index` rises by two.").by(
    overrideJson("chunkData")((data, { index }) => setField(data, "index", index * 2)),
    ["SSE-11"],
  ),
  "index-zero-dropped": variant("An `index` of 0 is left out, as some serialisers do.").by(
    overrideJson("chunkData")
      .when(({ index }) => index === 0)
      .remove("index"),
    ["SSE-11"],
  ),
  "index-null": variant("`index` is `null`.").by(overrideJson("chunkData").set("index", null)),
  "session-id-null": variant("`session_id` of `start` is `null`.").by(
    overrideJson("startData").set("session_id", null),
  ),
  "failure-retry-null": variant("An error event without a time has a `retry_after` of `null`.").by(
    overrideJson("streamErrorData")((data) =>
      "retry_after" in fieldsOf(data) ? data : setField(data, "retry_after", null),
    ),
  ),
  "stream-missing-query-other-code": variant("An absent `query` of a stream has the code INVALID_INPUT.").by(
    overrideErrorCode(["missing-field"], "INVALID_INPUT", "stream"),
  ),
  "stream-missing-query-own-code": variant("An absent `query` of a stream has the code VALIDATION_ERROR.").by(
    overrideErrorCode(["missing-field"], "VALIDATION_ERROR", "stream"),
  ),
});
