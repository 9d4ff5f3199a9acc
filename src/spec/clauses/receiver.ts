import { advisory, gap, must, should, type ClauseTable } from "../clause.ts";

const record = "Resources and their fields / Webhook delivery event";
const events = "Events / Webhook events";
const security = "Events / Delivery security and policy";

const receiver = { party: "receiver", since: "1.2" } as const;

/** The clauses that bind the receiver of webhook deliveries. */
export const receiverClauses = {
  "RCV-1": must(`${security} 1`, "A delivery with the right signature is accepted: it answers 2xx.", receiver),
  "RCV-2": must(
    `${security} 1`,
    "The signature is checked over the raw body: text outside ASCII, escapes, white space and the order of keys make no difference.",
    receiver,
  ),
  "RCV-3": must(record, "A delivery without `deployment_id`, which may be absent, is accepted.", receiver),
  "RCV-4": must(
    `${security} 1`,
    "A rightly signed delivery with fields that the document does not list is accepted.",
    receiver,
  ),
  "RCV-5": must(events, "A delivery of each event type that the webhook subscribed to is accepted.", receiver),
  "RCV-6": must(
    `${security} 1`,
    "A delivery whose signature does not match the receiver's own computation answers 401.",
    receiver,
  ),
  "RCV-7": must(`${security} 1`, "A delivery without a signature is refused with a 4xx status.", receiver),
  "RCV-8": advisory(
    `${security} 1`,
    "A delivery without a signature answers 401, as one with a wrong signature does.",
    receiver,
  ),
  "RCV-9": should(`${security} 3`, "A receiver answers with a 2xx status within 3 seconds.", receiver),
  "RCV-10": should(
    `${security} 5`,
    "A receiver tolerates duplicates: an event that comes again, later, or out of order answers 2xx each time.",
    receiver,
  ),
  "RCV-11": gap(
    `${security} 1`,
    "What a receiver does with a signature in upper-case hexadecimal is not shown.",
    receiver,
  ),
  "RCV-12": gap(
    events,
    "What a receiver does with an event type that the document does not list is not shown.",
    receiver,
  ),
  "RCV-13": gap(`${security} 3`, "How large a delivery a receiver accepts is not shown.", receiver),
  "RCV-14": gap(
    `${security} 3`,
    "What a receiver does with a body that arrives slowly, or in pieces, is not shown.",
    receiver,
  ),
  "RCV-15": gap(`${security} 3`, "How many deliveries a receiver takes at once is not shown.", receiver),
} as const satisfies ClauseTable;
