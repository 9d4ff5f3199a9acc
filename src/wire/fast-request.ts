import type { Dispatcher } from "undici";

import type { Answered, Ending, Header, Unanswered } from "../evidence/exchange.ts";
import { recordBody } from "./body-recorder.ts";
import { type Deadlines, tooManyInterim, maxInterim, watchDeadlines } from "./deadlines.ts";
import { describeBodyEnd, unansweredBy, wasReusedConnection } from "./describe-error.ts";
import { parseRawHeaders } from "./raw-headers.ts";

/** What is sent by the thousand: no stream, and nothing that stops it but its deadlines. */
export interface FastRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: string | null;
  readonly deadlines: Deadlines;
  /** Told when the response's head is there. */
  readonly onHead: () => void;
  /** Told what became of it where it is sent once more. */
  readonly onLost?: (answer: Unanswered) => void;
}

/** A body that is read no further than this. */
const mostBodyBytes = 1024 * 1024;
/** Nor in more chunks: chunks of a byte each cost a thousand times as much as the same bytes at once. */
const mostChunks = 100_000;

/**
 * Sends on undici's own handlers, without the stream, the signal and the promises that its `request` makes for each call.
 * Never rejects. A body comes as it stood on the wire: where it is compressed, it stays so.
 */
export async function sendFast(
  dispatcher: Dispatcher,
  sent: FastRequest,
  now: () => number,
): Promise<Answered | Unanswered> {
  const first = await sendOnce(dispatcher, sent, now);
  if (!first.isStale) return first.answer;
  if (first.answer.kind === "unanswered") sent.onLost?.(first.answer);
  return (await sendOnce(dispatcher, sent, now)).answer;
}

interface Sent {
  readonly answer: Answered | Unanswered;
  /** An idle connection ended at the instant it was used again: the request was never read. */
  readonly isStale: boolean;
}

function sendOnce(dispatcher: Dispatcher, sent: FastRequest, now: () => number): Promise<Sent> {
  const { origin, path } = partsOf(sent.url);
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

let last = { url: "", origin: "", path: "" };

/** Of thousands of requests in turn nearly all have one URL. */
function partsOf(url: string): typeof last {
  if (url !== last.url) {
    const { origin, pathname, search } = new URL(url);
    last = { url, origin, path: pathname + search };
  }
  return last;
}

function handlerFor(sent: FastRequest, now: () => number, settle: (sent: Sent) => void): Dispatcher.DispatchHandler {
  const kept = recordBody();
  let started: Dispatcher.DispatchController | null = null;
  let interim = 0;
  let chunks = 0;
  const watch = watchDeadlines(sent.deadlines, (why) => started?.abort(new Error(why)));
  let head: { readonly status: number; readonly headers: readonly Header[]; readonly headMs: number } | null = null;
  const end = (ending: Ending): void => {
    watch.end();
    if (head === null) return;
    settle({
      answer: { kind: "answered", ...head, endMs: now(), body: kept.body(), ending, events: [] },
      isStale: false,
    });
  };
  return {
    onRequestStart: (controller) => {
      started = controller;
      const why = watch.reason();
      if (why !== null) controller.abort(new Error(why));
    },
    onResponseStart: (controller, status) => {
      if (status < 200) {
        interim += 1;
        if (interim > maxInterim) watch.stop(tooManyInterim);
        return;
      }
      head = { status, headers: parseRawHeaders(controller.rawHeaders), headMs: now() };
      watch.headArrived();
      sent.onHead();
    },
    onResponseData: (_, piece) => {
      watch.pieceArrived();
      chunks += 1;
      kept.add(piece);
      if (kept.bytes() > mostBodyBytes) watch.stop(`more than ${mostBodyBytes} bytes of body`);
      if (chunks > mostChunks) watch.stop(`more than ${mostChunks} chunks of body`);
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
