import type { Answered, Body, Exchange, Header } from "../../evidence/exchange.ts";
import { truncate, sanitize, sanitizeLine, truncateStart } from "../../base/sanitize.ts";
import { formatCount } from "../../base/text.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { duration } from "../../base/duration.ts";

/** How much of a message is shown; a note says how much was left out. */
export interface MessageBounds {
  readonly bodyCharacters: number;
  readonly bodyLines: number;
  readonly headers: number;
  readonly headerCharacters: number;
}

const standardBounds: MessageBounds = { bodyCharacters: 1200, bodyLines: 24, headers: 24, headerCharacters: 200 };

/**
 * An exchange as it went over the wire, a line of text each: `> ` before what was sent, `< ` before what came, `* ` before
 * notes of our own, as `curl -v` has it. So nothing that a target sends can look like a line of the report.
 */
export function exchangeLines({ request, answer, sentMs }: Exchange, bounds: Partial<MessageBounds> = {}): string[] {
  const within = { ...standardBounds, ...bounds };
  const sent = [
    `${sanitizeLine(request.method, 40)} ${sanitizeLine(request.url, 500)}`,
    ...messageLines(request.headers, request.body, within),
  ].map(mark(">"));
  if (answer.kind === "unanswered") return [...sent, `* ${answer.reason}: ${sanitizeLine(answer.detail)}`];
  const came = [String(answer.status), ...messageLines(answer.headers, answer.body, within)].map(mark("<"));
  return [...sent, ...came, ...notesOn(answer, sentMs).map((note) => `* ${note}`)];
}

/** Each line is sent or received text, or, where it is ours, a note. */
interface Line {
  readonly text: string;
  readonly isNote: boolean;
}

/** Puts the sign of its direction before a line; a note of our own gets its own sign. */
const mark =
  (sign: ">" | "<") =>
  (line: Line | string): string => {
    const { text, isNote } = typeof line === "string" ? { text: line, isNote: false } : line;
    return `${isNote ? "*" : sign} ${text}`.trimEnd();
  };

const wire = (text: string): Line => ({ text, isNote: false });
const note = (text: string): Line => ({ text, isNote: true });

/** Headers and body of a message, bounded. */
function messageLines(headers: readonly Header[], body: Body, bounds: MessageBounds): Line[] {
  const shown = headers.slice(0, bounds.headers);
  const rest = headers.length - shown.length;
  const content = bodyLines(body, bounds);
  return [
    ...shown.map(([name, value]) => wire(sanitizeLine(`${name}: ${value}`, bounds.headerCharacters))),
    ...(rest > 0 ? [note(`${rest} more headers`)] : []),
    ...(content.length > 0 ? [wire(""), ...content] : []),
  ];
}

function bodyLines(body: Body, bounds: MessageBounds): Line[] {
  switch (body.kind) {
    case "none":
      return [];
    case "base64":
      return [note(`${body.bytes} bytes that are no UTF-8 text`), wire(truncate(body.base64, 76))];
    case "text":
      return textLines(body.text, bounds);
    case "cut":
      return [
        ...textLines(body.head, bounds),
        note(`${body.bytes} bytes in all, SHA-256 ${sanitizeLine(body.sha256, 64)}; the last of them:`),
        ...textLines(truncateStart(body.tail, Math.floor(bounds.bodyCharacters / 3)), bounds),
      ];
  }
}

/** The first two thirds of what fits, and the last third: how a stream ended is as telling as how it began. */
function textLines(text: string, { bodyCharacters, bodyLines: mostLines }: MessageBounds): Line[] {
  const kept = withoutLastFeeds(text);
  const shown = (lines: readonly string[]): Line[] => lines.map((line) => wire(sanitize(line)));
  const lines = kept.length <= bodyCharacters ? linesOf(kept) : null;
  if (lines !== null && lines.length <= mostLines) return shown(lines);
  const [tailCharacters, tailLines] = [Math.floor(bodyCharacters / 3), Math.floor(mostLines / 3)];
  const head = linesOf(truncate(kept, bodyCharacters - tailCharacters)).slice(0, mostLines - tailLines);
  const tail = linesOf(truncateStart(kept, tailCharacters)).slice(-tailLines);
  const left = kept.length - head.join("\n").length - tail.join("\n").length;
  return [...shown(head), note(`about ${formatCount(left, "character")} left out here`), ...shown(tail)];
}

const linesOf = (text: string): string[] => text.split(/\r\n|\n/);

function withoutLastFeeds(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === "\n" || text[end - 1] === "\r")) end -= 1;
  return text.slice(0, end);
}

function notesOn({ ending, events, endMs }: Answered, sentMs: number): string[] {
  const afterSeconds = `after ${((endMs - sentMs) / 1000).toFixed(2)} s`;
  const stream =
    events.length === 0 ? [] : [`${formatCount(events.length, "event")} in the stream, which ended ${afterSeconds}`];
  switch (ending.kind) {
    case "complete":
      return stream;
    case "closed by us":
      return [...stream, `closed by the harness on purpose, ${afterSeconds}`];
    case "broken":
      return [...stream, `the response broke off ${afterSeconds}: ${sanitizeLine(ending.detail)}`];
    case "deadline":
      return [...stream, `the harness gave up ${afterSeconds}: ${sanitizeLine(ending.detail)}`];
  }
}

/**
 * A delivery as the harness's receiver got it, a line of text each: `< ` before what came, `* ` before notes of our own, which
 * say when it came and what it was answered.
 */
export function deliveryLines(delivery: Delivery, bounds: Partial<MessageBounds> = {}): string[] {
  const { request } = delivery;
  const came: (Line | string)[] = [
    `${sanitizeLine(request.method, 40)} ${sanitizeLine(request.url, 500)}`,
    ...messageLines(request.headers, request.body, { ...standardBounds, ...bounds }),
  ];
  return [`* ${arrivalOf(delivery)}`, ...came.map(mark("<")), `* ${replyOf(delivery)}`];
}

function arrivalOf({ hook, attempt, peer, receivedMs, clockMs }: Delivery): string {
  const moved = clockMs === 0 ? "" : `, with the target's clock moved by ${duration(clockMs)}`;
  return `request ${attempt} to the address \`${sanitizeLine(hook, 60)}\`, from ${sanitizeLine(peer, 60)}, ${duration(receivedMs)} into the run${moved}`;
}

function replyOf({ reply, receivedMs }: Delivery): string {
  const left = (leftMs: number | null): string =>
    leftMs === null ? "the sender kept waiting" : `the sender gave up after ${duration(leftMs - receivedMs)}`;
  switch (reply.kind) {
    case "answered":
      return `the harness answered ${reply.status} after ${duration(reply.endMs - receivedMs)}`;
    case "held":
      return "the harness had not answered yet";
    case "reset":
      return "the harness reset the connection on purpose";
    case "silent":
      return `the harness did not answer, on purpose; ${left(reply.leftMs)}`;
    case "endless":
      return `the harness answered ${reply.status} with a body that does not end, on purpose; ${left(reply.leftMs)}`;
  }
}
