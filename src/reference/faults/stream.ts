import { isObject } from "../../base/json.ts";
import type { StreamStep } from "../behaviour/execution.ts";
import { setField } from "../json-edit.ts";
import {
  always,
  fault,
  faults,
  overrideByCount,
  overrideErrorCode,
  overrideErrorStatus,
  overrideJson,
  overrideResult,
  overrideSuccessStatus,
} from "../patch.ts";
import { refuseBody, refuseManyParameters, refuseParameter, refuseUnknownParameters } from "./invoke.ts";

const editSteps = overrideResult("planSteps");

const isEnd = (step: StreamStep) => step.kind === "done" || step.kind === "error";
const isStart = (step: StreamStep) => step.kind === "start";
const isChunk = (step: StreamStep) => step.kind === "chunk";

const startData = overrideJson("startData");
const chunkData = overrideJson("chunkData");
const doneData = overrideJson("doneData");
const errorData = overrideJson("streamErrorData");

const streamEndpointFaults = faults("Endpoints / 2. Stream an agent response", {
  "stream-answers-201": fault("SSE-1", "A stream responds with 201.").by(overrideSuccessStatus("stream", 201)),
  "stream-answers-201-at-times": fault("SSE-1", "Each third stream responds with 201.").by(
    overrideSuccessStatus("stream", 201, 3),
    // The fault may also break these clauses, depending on whether their probes get one of the streams with status 201.
    ["SSE-22", "SSE-26", "SSE-34"],
  ),
  "stream-missing-query-422": fault(["SSE-20", "ERR-1", "ERR-10"], "An absent `query` responds with 422.").by(
    overrideErrorStatus(["missing-field"], 422, "stream"),
    ["REQ-11"],
  ),
  "stream-unknown-agent-other-code": fault("SSE-21", "An agent that does not exist has the code NOT_FOUND.").by(
    overrideErrorCode(["agent-not-found"], "NOT_FOUND", "stream"),
  ),
  "stream-unknown-agent-400": fault(["SSE-21", "ERR-10"], "An agent that does not exist responds with 400.").by(
    overrideErrorStatus(["agent-not-found"], 400, "stream"),
  ),
  "stream-temperature-refused": fault("SSE-34", "`temperature` is refused on a stream.").by(
    refuseParameter("stream", "temperature"),
  ),
  "stream-max-tokens-refused": fault("SSE-34", "`max_tokens` is refused on a stream.").by(
    refuseParameter("stream", "max_tokens"),
  ),
  "stream-context-refused": fault("SSE-34", "`context` is refused on a stream.").by(
    refuseParameter("stream", "context"),
  ),
  "resume-refused": fault("SSE-22", "`resume_from_index` is refused.").by(
    refuseParameter("stream", "resume_from_index"),
    ["SSE-1"],
  ),
  "delay-refused": fault("SSE-22", "`stream_delay_ms` is refused.").by(refuseParameter("stream", "stream_delay_ms"), [
    "SSE-1",
  ]),
  "chunk-size-refused": fault("SSE-22", "`chunk_size` is refused.").by(refuseParameter("stream", "chunk_size"), [
    "SSE-1",
  ]),
  "stream-unknown-parameters-refused": fault("SSE-22", "Unknown keys inside `parameters` are refused.").by(
    refuseUnknownParameters("stream"),
  ),
  "stream-parameters-together-refused": fault("SSE-1", "More than two keys inside `parameters` are refused.").by(
    refuseManyParameters("stream"),
    ["SSE-22"],
  ),
  "stream-session-refused": fault("SSE-26", "`session_id` is refused.").by(
    refuseBody("stream", "session_id", (fields) => "session_id" in fields),
  ),
  "stream-temperature-zero-refused": fault("SSE-34", "A stream refuses a `temperature` of 0.0.").by(
    refuseParameter("stream", "temperature", (value) => value === 0),
  ),
  "stream-temperature-two-refused": fault("SSE-34", "A stream refuses a `temperature` of 2.0.").by(
    refuseParameter("stream", "temperature", (value) => value === 2),
  ),
  "stream-session-forgotten": fault("SSE-36", "No stream remembers the one before it.").by(
    overrideByCount("conversationKey")((key, count, { endpoint }) => (endpoint === "stream" ? `stream ${count}` : key)),
  ),
  "stream-outlives-client": fault("SSE-27", "A stream runs to its end although the client has left.").by(
    always("noticesDisconnect", "never"),
  ),
  "slot-late-on-disconnect": fault("SSE-27", "The slot of a stream whose client has left is free after 20 seconds.").by(
    overrideResult("releaseDelayMs")((delayMs, event) => (event === "left" ? 20_000 : delayMs)),
  ),
  "slot-late-on-second-disconnect": fault(
    "SSE-27",
    "From the second lost client on, the slot of its stream is free after 20 seconds.",
  ).by((base) => {
    let left = 0;
    return overrideResult("releaseDelayMs")((delayMs, event) => {
      left += Number(event === "left");
      return event === "left" && left > 1 ? 20_000 : delayMs;
    })(base);
  }),
  "stream-missing-query-code-of-other-status": fault(
    ["SSE-20", "ERR-10"],
    "An absent `query` responds with 400 with the code AGENT_NOT_FOUND.",
  ).by(overrideErrorCode(["missing-field"], "AGENT_NOT_FOUND", "stream")),
});

const sequenceFaults = faults("States and transitions / Stream sequence", {
  "start-missing": fault("SSE-4", "There is no `start`.").by(
    editSteps((steps) => steps.filter((step) => !isStart(step))),
  ),
  "start-twice": fault("SSE-4", "`start` comes twice.").by(editSteps((steps) => [{ kind: "start" }, ...steps])),
  "start-late": fault(["SSE-4", "SSE-6"], "`start` follows the first chunk.").by(
    editSteps((steps) => {
      const first = steps.find(isChunk);
      const rest = steps.filter((step) => step !== first && !isStart(step));
      return first === undefined ? steps : [first, { kind: "start" }, ...rest];
    }),
  ),
  "end-missing": fault("SSE-5", "A stream that went well just ends.").by(
    editSteps((steps) => steps.filter((step) => step.kind !== "done")),
  ),
  "done-twice": fault("SSE-5", "The last event comes twice.").by(
    editSteps((steps) => [...steps, ...steps.filter(isEnd)]),
  ),
  "chunk-after-done": fault("SSE-5", "A chunk follows `done`.").by(
    editSteps((steps, { chunks, ending }) =>
      ending.kind === "done"
        ? [...steps, { kind: "chunk", chunk: { text: "late", index: (chunks.at(-1)?.index ?? -1) + 1 } }]
        : steps,
    ),
  ),
  "error-and-done": fault("SSE-5", "`done` follows `error`.").by(
    editSteps((steps) => {
      const failed = steps.some((step) => step.kind === "error");
      return failed ? [...steps, { kind: "done", usage: { prompt: 0, completion: 0 } }] : steps;
    }),
  ),
  "no-chunks": fault("SSE-6", "The content is never sent.").by(
    editSteps((steps) => steps.filter((step) => !isChunk(step))),
  ),
  "no-chunks-at-times": fault("SSE-6", "The content of each third stream is never sent.").by(
    overrideByCount("planSteps")((steps, count) => (count % 3 === 0 ? steps.filter((step) => !isChunk(step)) : steps)),
  ),
  "failure-says-done": fault(["SSE-17", "SSE-19", "HOOK-43"], "A failure while streaming is reported as `done`.").by(
    editSteps((steps) =>
      steps.map((step) => (step.kind === "error" ? { kind: "done", usage: { prompt: 0, completion: 0 } } : step)),
    ),
  ),
  "failure-cuts": fault(["SSE-17", "SSE-19"], "A failure while streaming drops the connection.").by(
    editSteps((steps) => steps.map((step) => (step.kind === "error" ? { kind: "cut" } : step))),
    ["SSE-5"],
  ),
  "stays-open": fault("SSE-28", "The stream stays open for an hour behind its end.").by(
    editSteps((steps) => [...steps, { kind: "wait", ms: 3_600_000 }]),
  ),
  "all-at-the-end": fault("SSE-29", "Everything is sent at the end.").by(
    editSteps((steps) => [
      ...steps.filter(({ kind }) => kind === "wait"),
      ...steps.filter(({ kind }) => kind !== "wait"),
    ]),
  ),
});

const eventFaults = faults("Events / Stream events (SSE)", {
  "event-without-name": fault("SSE-2", "Chunks have no `event:` line.").by(
    overrideResult("encodeEvent")((bytes, name, data) => (name === "chunk" ? [`data: ${data}\n\n`] : bytes)),
  ),
  "event-of-another-name": fault("SSE-2", "An event `ping` comes before the end.").by(
    overrideResult("encodeEvent")((bytes, name) =>
      name === "done" || name === "error" ? ["event: ping\ndata: {}\n\n", ...bytes] : bytes,
    ),
  ),
  "start-data-is-text": fault("SSE-3", "The data of `start` is no JSON.").by((base) => ({
    encodeEvent: (name, data, number) => base.encodeEvent(name, name === "start" ? "started" : data, number),
  })),
  "start-data-is-array": fault("SSE-3", "The data of `start` is an array.").by((base) => ({
    encodeEvent: (name, data, number) => base.encodeEvent(name, name === "start" ? "[]" : data, number),
  })),
  "line-feeds-raw": fault("SSE-3", "A line feed of the text is not escaped in the data, so it ends their line.").by(
    (base) => ({ encodeEvent: (name, data, number) => base.encodeEvent(name, data.replaceAll("\\n", "\n"), number) }),
  ),
  "start-without-message": fault("SSE-7", "`start` has no `message`.").by(startData.remove("message")),
  "start-message-is-number": fault("SSE-7", "`message` of `start` is a number.").by(startData.set("message", 1)),
  "session-is-number": fault("SSE-8", "`session_id` is a number.").by(startData.set("session_id", 7)),
  "content-missing": fault("SSE-9", "Chunks have no `content`.").by(chunkData.remove("content")),
  "content-is-object": fault("SSE-9", "`content` is an object.").by(
    chunkData.change("content", (old) => ({ text: old })),
  ),
  "index-is-text": fault("SSE-10", "`index` is text.").by(chunkData.change("index", String)),
  "done-without-message": fault("SSE-12", "`done` has no `message`.").by(doneData.remove("message")),
  "done-without-usage": fault("SSE-13", "`done` has no `usage`.").by(doneData.remove("usage")),
  "done-total-is-text": fault("SSE-13", "`total_tokens` of `done` is text.").by(
    doneData.change("usage.total_tokens", String),
  ),
  "done-total-is-fraction": fault("SSE-13", "`total_tokens` of `done` is a fraction.").by(
    doneData.change("usage.total_tokens", (tokens) => Number(tokens) + 0.5),
  ),
  "done-without-time": fault("SSE-14", "`done` has no `execution_time`.").by(doneData.remove("execution_time")),
  "done-time-is-text": fault("SSE-14", "`execution_time` of `done` is text.").by(
    doneData.change("execution_time", String),
  ),
  "done-time-without-whole-seconds": fault("SSE-14", "`execution_time` of `done` has lost its whole seconds.").by(
    doneData.change("execution_time", (seconds) => Number(seconds) % 1),
  ),
  "error-without-text": fault("SSE-15", "`error` has no text.").by(errorData.remove("error")),
  "error-is-object": fault("SSE-15", "`error` is an object.").by(errorData.change("error", (message) => ({ message }))),
  "error-retry-is-text": fault("SSE-16", "`retry_after` of `error` is text.").by(
    errorData.change("retry_after", String),
  ),
  "failure-retry-is-text": fault("SSE-16", "`retry_after` of a failure is a word.").by(
    errorData((data) =>
      isObject(data) && data["code"] === "STREAM_ERROR" ? setField(data, "retry_after", "soon") : data,
    ),
  ),
  "failure-other-code": fault("SSE-18", "A failure has the code FAILED.").by(
    errorData.change("code", (code) => (code === "STREAM_ERROR" ? "FAILED" : code)),
  ),
  "overload-other-code": fault("SSE-19", "An overload has the code OVERLOADED.").by(
    errorData.change("code", (code) => (code === "CAPACITY_ERROR" ? "OVERLOADED" : code)),
  ),
  "overload-without-retry": fault("SSE-19", "An overload has no `retry_after`.").by(errorData.remove("retry_after")),
  "chunks-cut-characters": fault("SSE-30", "Chunks are cut between the bytes of a character.").by((base) => ({
    splitText: (text, chunkSize) =>
      base.splitText(text, chunkSize).flatMap((piece) => {
        const bytes = Buffer.from(piece, "utf8");
        const at = bytes.findIndex((byte) => byte >= 0x80) + 1;
        return at === 0 ? [piece] : [bytes.subarray(0, at).toString("utf8"), bytes.subarray(at).toString("utf8")];
      }),
  })),
  "done-time-negative": fault("SSE-31", "`execution_time` is negative.").by(doneData.set("execution_time", -1)),
  "done-time-too-long": fault(["SSE-14", "SSE-31"], "`execution_time` is an hour more than the stream took.").by(
    doneData.change("execution_time", (seconds) => Number(seconds) + 3600),
  ),
});

export const streamFaults = [...streamEndpointFaults, ...sequenceFaults, ...eventFaults];
