import { advisory, gap, must, should, type ClauseTable } from "../clause.ts";

const requests = "Endpoints / Common request rules";
const invoke = "Endpoints / 1. Invoke an agent";
const stream = "Endpoints / 2. Stream an agent response";
const list = "Endpoints / 4. List agents";
const codes = "Errors / Error codes";
const events = "Events / Stream events (SSE)";

const client = { party: "client", since: "1.2" } as const;

/** The clauses that bind a client of the interface. */
export const clientClauses = {
  "CLI-1": must("What the service does 2", "A client does not send the version segment twice.", client),
  "CLI-2": must(
    requests,
    "Every request carries `Authorization: Bearer <API_KEY>` with the key that the client was given.",
    client,
  ),
  "CLI-3": must(requests, "A request with a body carries `Content-Type: application/json`.", client),
  "CLI-4": advisory(
    requests,
    "`Accept` names `application/json`, and `text/event-stream` for the stream endpoint.",
    client,
  ),
  "CLI-5": must("What the service does 1", "A request body is JSON.", client),
  "CLI-6": must(
    invoke,
    "The body of an invoke, a stream or a batch item is an object with the string `query`.",
    client,
  ),
  "CLI-7": must(
    invoke,
    "`session_id`, `parameters` and the fields in it have the types of the table, and `temperature` is from 0.0 to 2.0.",
    client,
  ),
  "CLI-8": must(list, "`page` and `limit` of a list request are integers.", client),
  "CLI-9": advisory(
    list,
    "A list request carries `page` and `limit`, because the document states no defaults.",
    client,
  ),
  "CLI-10": must(
    "Authentication 4",
    "A signed request carries both headers, and `X-Signature` is the signature of what was sent.",
    client,
  ),
  "CLI-11": must("Authentication 4", "`X-Timestamp` is the current Unix time in seconds, as a decimal string.", client),
  "CLI-12": should(
    codes,
    "After a 429, a client waits the stated `retry_after` before it sends the request again.",
    client,
  ),
  "CLI-13": should(codes, "A client retries 5xx responses.", client),
  "CLI-14": should(codes, "The waits between retries of a 5xx grow.", client),
  "CLI-15": should(codes, "A client does not retry a 5xx without end: it gives up, or slows down.", client),
  "CLI-16": advisory(codes, "A client does not repeat a POST that may have run, unless a response told it to.", client),
  "CLI-17": advisory(
    events,
    "After an `error` event with `retry_after`, a client waits as long before it asks again.",
    client,
  ),
  "CLI-18": advisory(stream, "A client leaves no stream open after `done` or `error`.", client),
  "CLI-19": advisory(list, "A client that reads the whole list reads every page, however small the pages are.", client),
  "CLI-20": gap(events, "What a client does with legal but unusual responses is not shown.", client),
  "CLI-21": gap(codes, "How a client reports failures to its caller is not shown.", client),
  "CLI-22": gap(
    "States and transitions / Stream sequence",
    "What a client does with a stream that ends without `done` or `error` is not shown.",
    client,
  ),
  "CLI-23": must(
    "Endpoints / 6. Create a webhook",
    "The fields that a client creates a webhook or an alert with have the types of the tables.",
    client,
  ),
} as const satisfies ClauseTable;
