import { advisory, gap, must, should, withExtras } from "../clause.ts";

const requests = "Endpoints / Common request rules";
const invoke = "Endpoints / 1. Invoke an agent";
const stream = "Endpoints / 2. Stream an agent response";
const list = "Endpoints / 4. List agents";
const codes = "Errors / Error codes";
const streamEvents = "Events / Stream events (SSE)";

const client = { party: "client", since: "1.2" } as const;

export const clientClauses = withExtras(client, {
  "CLI-1": must("What the service does 2", "A client does not send the version segment twice."),
  "CLI-2": must(
    requests,
    "Every request carries `Authorization: Bearer <API_KEY>` with the key that the client was given.",
  ),
  "CLI-3": must(requests, "A request with a body carries `Content-Type: application/json`."),
  "CLI-4": advisory(requests, "`Accept` names `application/json`, and `text/event-stream` for the stream endpoint."),
  "CLI-5": must("What the service does 1", "A request body is JSON."),
  "CLI-6": must(invoke, "The body of an invoke, a stream or a batch item is an object with the string `query`."),
  "CLI-7": must(
    invoke,
    "`session_id`, `parameters` and the fields in it have the types of the table, and `temperature` is from 0.0 to 2.0.",
  ),
  "CLI-8": must(list, "`page` and `limit` of a list request are integers."),
  "CLI-9": advisory(list, "A list request carries `page` and `limit`, because the document states no defaults."),
  "CLI-10": must(
    "Authentication 4",
    "A signed request carries both headers, and `X-Signature` is the signature of what was sent.",
  ),
  "CLI-11": must("Authentication 4", "`X-Timestamp` is the current Unix time in seconds, as a decimal string."),
  "CLI-12": should(codes, "After a 429, a client waits the stated `retry_after` before it sends the request again."),
  "CLI-13": should(codes, "A client retries 5xx responses."),
  "CLI-14": should(codes, "The waits between retries of a 5xx grow."),
  "CLI-15": should(codes, "A client does not retry a 5xx without end: it gives up, or slows down."),
  "CLI-16": advisory(codes, "A client does not repeat a POST that may have run, unless a response told it to."),
  "CLI-17": advisory(
    streamEvents,
    "After an `error` event with `retry_after`, a client waits as long before it asks again.",
  ),
  "CLI-18": advisory(stream, "A client leaves no stream open after `done` or `error`."),
  "CLI-19": advisory(list, "A client that reads the whole list reads every page, however small the pages are."),
  "CLI-20": gap(streamEvents, "What a client does with legal but unusual responses is not shown."),
  "CLI-21": gap(codes, "How a client reports failures to its caller is not shown."),
  "CLI-22": gap(
    "States and transitions / Stream sequence",
    "What a client does with a stream that ends without `done` or `error` is not shown.",
  ),
  "CLI-23": must(
    "Endpoints / 6. Create a webhook",
    "The fields that a client creates a webhook or an alert with have the types of the tables.",
  ),
});

const record = "Resources and their fields / Webhook delivery event";
const webhookEvents = "Events / Webhook events";
const security = "Events / Delivery security and policy";

const receiver = { party: "receiver", since: "1.2" } as const;

export const receiverClauses = withExtras(receiver, {
  "RCV-1": must(`${security} 1`, "A delivery with the right signature is accepted: it answers 2xx."),
  "RCV-2": must(
    `${security} 1`,
    "The signature is checked over the raw body: text outside ASCII, escapes, white space and the order of keys make no difference.",
  ),
  "RCV-3": must(record, "A delivery without `deployment_id`, which may be absent, is accepted."),
  "RCV-4": must(`${security} 1`, "A rightly signed delivery with fields that the document does not list is accepted."),
  "RCV-5": must(webhookEvents, "A delivery of each event type that the webhook subscribed to is accepted."),
  "RCV-6": must(
    `${security} 1`,
    "A delivery whose signature does not match the receiver's own computation answers 401.",
  ),
  "RCV-7": must(`${security} 1`, "A delivery without a signature is refused with a 4xx status."),
  "RCV-8": advisory(`${security} 1`, "A delivery without a signature answers 401, as one with a wrong signature does."),
  "RCV-9": should(`${security} 3`, "A receiver answers with a 2xx status within 3 seconds."),
  "RCV-10": should(
    `${security} 5`,
    "A receiver tolerates duplicates: an event that comes again, later, or out of order answers 2xx each time.",
  ),
  "RCV-11": gap(`${security} 1`, "What a receiver does with a signature in upper-case hexadecimal is not shown."),
  "RCV-12": gap(webhookEvents, "What a receiver does with an event type that the document does not list is not shown."),
  "RCV-13": gap(`${security} 3`, "How large a delivery a receiver accepts is not shown."),
  "RCV-14": gap(`${security} 3`, "What a receiver does with a body that arrives slowly, or in pieces, is not shown."),
  "RCV-15": gap(`${security} 3`, "How many deliveries a receiver takes at once is not shown."),
});
