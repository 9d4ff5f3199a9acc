import type { Answered, Body, Exchange, Header } from "../../evidence/exchange.ts";
import { truncate, sanitize, sanitizeLine, truncateStart } from "../../base/sanitize.ts";
import { formatCount } from "../../base/text.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { formatDuration } from "../../base/duration.ts";

/** Maximum size of a message as text. Lines with `*` say how many headers and body characters are left out. */
export interface MessageBounds {
  readonly bodyCharacters: number;
  readonly bodyLines: number;
  readonly headers: number;
  readonly headerCharacters: number;
}

const defaultBounds: MessageBounds = { bodyCharacters: 1200, bodyLines: 24, headers: 24, headerCharacters: 200 };

/** Formats an exchange as lines, like `curl -v`: `>` is sent, `<` is received, `*` is a note of the harness. */
export function exchangeLines({ request, answer, sentMs }: Exchange, bounds: Partial<MessageBounds> = {}): string[] {
  const limits = { ...defaultBounds, ...bounds };
  const sent = [
    `${sanitizeLine(request.method, 40)} ${sanitizeLine(request.url, 500)}`,
    ...messageLines(request.headers, request.body, limits),
  ].map(lineMarker(">"));
  if (answer.kind === "unanswered") return [...sent, `* ${answer.reason}: ${sanitizeLine(answer.detail)}`];
  const received = [String(answer.status), ...messageLines(answer.headers, answer.body, limits)].map(lineMarker("<"));
  return [...sent, ...received, ...responseNotes(answer, sentMs).map((note) => `* ${note}`)];
}

interface MessageLine {
  readonly text: string;
  readonly isNote: boolean;
}

const lineMarker =
  (sign: ">" | "<") =>
  (line: MessageLine | string): string => {
    const { text, isNote } = typeof line === "string" ? { text: line, isNote: false } : line;
    return `${isNote ? "*" : sign} ${text}`.trimEnd();
  };

const wireLine = (text: string): MessageLine => ({ text, isNote: false });
const noteLine = (text: string): MessageLine => ({ text, isNote: true });

function messageLines(headers: readonly Header[], body: Body, bounds: MessageBounds): MessageLine[] {
  const first = headers.slice(0, bounds.headers);
  const rest = headers.length - first.length;
  const content = bodyLines(body, bounds);
  return [
    ...first.map(([name, value]) => wireLine(sanitizeLine(`${name}: ${value}`, bounds.headerCharacters))),
    ...(rest > 0 ? [noteLine(`${rest} more headers`)] : []),
    ...(content.length > 0 ? [wireLine(""), ...content] : []),
  ];
}

function bodyLines(body: Body, bounds: MessageBounds): MessageLine[] {
  switch (body.kind) {
    case "none":
      return [];
    case "base64":
      return [noteLine(`${body.bytes} bytes that are not UTF-8 text`), wireLine(truncate(body.base64, 76))];
    case "text":
      return shortenedTextLines(body.text, bounds);
    case "cut":
      return [
        ...shortenedTextLines(body.head, bounds),
        noteLine(`${body.bytes} bytes in all, SHA-256 ${sanitizeLine(body.sha256, 64)}; the last of them:`),
        ...shortenedTextLines(truncateStart(body.tail, Math.floor(bounds.bodyCharacters / 3)), bounds),
      ];
  }
}

/** Cuts a long text in the middle, because the last lines of a stream matter as well as the first. */
function shortenedTextLines(text: string, { bodyCharacters, bodyLines: maxLines }: MessageBounds): MessageLine[] {
  const trimmed = withoutTrailingLineFeeds(text);
  const sanitized = (lines: readonly string[]): MessageLine[] => lines.map((line) => wireLine(sanitize(line)));
  const lines = trimmed.length <= bodyCharacters ? splitLines(trimmed) : null;
  if (lines !== null && lines.length <= maxLines) return sanitized(lines);
  const [tailCharacters, tailLines] = [Math.floor(bodyCharacters / 3), Math.floor(maxLines / 3)];
  const head = splitLines(truncate(trimmed, bodyCharacters - tailCharacters)).slice(0, maxLines - tailLines);
  const tail = splitLines(truncateStart(trimmed, tailCharacters)).slice(-tailLines);
  const hiddenCount = trimmed.length - head.join("\n").length - tail.join("\n").length;
  return [
    ...sanitized(head),
    noteLine(`about ${formatCount(hiddenCount, "character")} left out here`),
    ...sanitized(tail),
  ];
}

const splitLines = (text: string): string[] => text.split(/\r\n|\n/);

function withoutTrailingLineFeeds(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === "\n" || text[end - 1] === "\r")) end -= 1;
  return text.slice(0, end);
}

function responseNotes({ ending, events, endMs }: Answered, sentMs: number): string[] {
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

export function deliveryLines(delivery: Delivery, bounds: Partial<MessageBounds> = {}): string[] {
  const { request } = delivery;
  const received: (MessageLine | string)[] = [
    `${sanitizeLine(request.method, 40)} ${sanitizeLine(request.url, 500)}`,
    ...messageLines(request.headers, request.body, { ...defaultBounds, ...bounds }),
  ];
  return [`* ${formatArrival(delivery)}`, ...received.map(lineMarker("<")), `* ${formatReply(delivery)}`];
}

function formatArrival({ hook, attempt, peer, receivedMs, clockMs }: Delivery): string {
  const clock = clockMs === 0 ? "" : `, with the target's clock moved by ${formatDuration(clockMs)}`;
  return `request ${attempt} to the address \`${sanitizeLine(hook, 60)}\`, from ${sanitizeLine(peer, 60)}, ${formatDuration(receivedMs)} into the run${clock}`;
}

function formatReply({ reply, receivedMs }: Delivery): string {
  const senderText = (leftMs: number | null): string =>
    leftMs === null ? "the sender kept waiting" : `the sender gave up after ${formatDuration(leftMs - receivedMs)}`;
  switch (reply.kind) {
    case "answered":
      return `the harness answered ${reply.status} after ${formatDuration(reply.endMs - receivedMs)}`;
    case "held":
      return "the harness had not answered yet";
    case "reset":
      return "the harness reset the connection on purpose";
    case "silent":
      return `the harness did not answer, on purpose; ${senderText(reply.leftMs)}`;
    case "endless":
      return `the harness answered ${reply.status} with a body that does not end, on purpose; ${senderText(reply.leftMs)}`;
  }
}
