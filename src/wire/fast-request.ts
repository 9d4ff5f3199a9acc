import type { Dispatcher } from "undici";

import type { Answered, Ending, Header, Unanswered } from "../evidence/exchange.ts";
import { recordBody, parseRawHeaders } from "./record-body.ts";
import { type Deadlines, watchDeadlines } from "./deadlines.ts";
import { describeBodyEnd, unansweredBy, wasReusedConnection } from "./describe-error.ts";

/** A request to send with low overhead, e.g. to use up a rate limit. The caller cannot abort the request. */
interface FastRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: string | null;
  readonly deadlines: Deadlines;
  readonly onHead: () => void;
  readonly onResend?: (answer: Unanswered) => void;
}

const maxBodyBytes = 1024 * 1024;
/** Maximum number of chunks of a response body, because even a chunk of one byte costs CPU time. */
const maxChunks = 100_000;

/**
 * Sends a request faster than undici's `request`, but does not decompress the response. Sends the request again if the
 * server closed a reused connection. Does not reject if the request fails.
 */
export async function sendFast(
  dispatcher: Dispatcher,
  sent: FastRequest,
  now: () => number,
): Promise<Answered | Unanswered> {
  const first = await sendOnce(dispatcher, sent, now);
  if (!first.isStale) return first.answer;
  if (first.answer.kind === "unanswered") sent.onResend?.(first.answer);
  return (await sendOnce(dispatcher, sent, now)).answer;
}

interface RequestAttempt {
  readonly answer: Answered | Unanswered;
  /** Whether the server closed the reused connection, probably before it read the request. */
  readonly isStale: boolean;
}

function sendOnce(dispatcher: Dispatcher, sent: FastRequest, now: () => number): Promise<RequestAttempt> {
  const { origin, path } = urlPartsOf(sent.url);
  return new Promise((resolve) => {
    const handler = handlerFor(sent, now, resolve);
    const headers = sent.headers.flat();
    try {
      dispatcher.dispatch({ origin, path, method: sent.method, headers, body: sent.body }, handler);
    } catch (error) {
      resolve({ answer: unansweredBy(error, null, now()), isStale: false });
    }
  });
}

let lastParsed = { url: "", origin: "", path: "" };

/** Splits a URL. Remembers the latest result, because the same URL may be requested thousands of times in a row. */
function urlPartsOf(url: string): typeof lastParsed {
  if (url !== lastParsed.url) {
    const { origin, pathname, search } = new URL(url);
    lastParsed = { url, origin, path: pathname + search };
  }
  return lastParsed;
}

function handlerFor(
  sent: FastRequest,
  now: () => number,
  settle: (attempt: RequestAttempt) => void,
): Dispatcher.DispatchHandler {
  const recorder = recordBody();
  let controller: Dispatcher.DispatchController | null = null;
  let chunkCount = 0;
  const watch = watchDeadlines(sent.deadlines, (why) => controller?.abort(new Error(why)));
  let head: { readonly status: number; readonly headers: readonly Header[]; readonly headMs: number } | null = null;
  const end = (ending: Ending): void => {
    watch.end();
    if (head === null) return;
    settle({
      answer: { kind: "answered", ...head, endMs: now(), body: recorder.body(), ending, events: [] },
      isStale: false,
    });
  };
  return {
    onRequestStart: (started) => {
      controller = started;
      const why = watch.reason();
      if (why !== null) controller.abort(new Error(why));
    },
    onResponseStart: ({ rawHeaders }, status) => {
      if (status < 200) return watch.interimArrived();
      head = { status, headers: parseRawHeaders(rawHeaders), headMs: now() };
      watch.headArrived();
      sent.onHead();
    },
    onResponseData: (_, piece) => {
      watch.pieceArrived();
      chunkCount += 1;
      recorder.add(piece);
      if (recorder.bytes() > maxBodyBytes) watch.stop(`more than ${maxBodyBytes} bytes of body`);
      if (chunkCount > maxChunks) watch.stop(`more than ${maxChunks} chunks of body`);
    },
    onResponseEnd: () => end({ kind: "complete" }),
    onResponseError: (_, error) => {
      const reason = watch.reason();
      if (head !== null)
        return end(
          reason === null ? { kind: "broken", detail: describeBodyEnd(error) } : { kind: "deadline", detail: reason },
        );
      watch.end();
      settle({
        answer: unansweredBy(error, reason, now()),
        isStale: reason === null && wasReusedConnection(error),
      });
    },
  };
}
