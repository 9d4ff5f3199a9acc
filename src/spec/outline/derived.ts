import type { ClauseId } from "../clauses.ts";

/**
 * The reason why a `must` or `should` clause follows from the document, although no single sentence states the clause.
 */
interface Derivation {
  /** Places in the document that imply the clause: headings or numbered items, e.g. `Events / Webhook events`. */
  readonly from: readonly [string, ...string[]];
  readonly because: string;
}

const bodies = "What the service does 1";
const codes = "Errors / Error codes";
const rates = "Limits / Request rate (per API key)";
const scope = "Limits / Scope of limits";
const stream = "Endpoints / 2. Stream an agent response";
const policy = "Events / Delivery security and policy";
const delivery = "States and transitions / Webhook delivery";

export const derivations: Readonly<Partial<Record<ClauseId, Derivation>>> = {
  "CLI-15": {
    from: [codes],
    because: "Backoff relieves a server that fails; retries without an end, and without longer waits, do not.",
  },
  "CLI-14": {
    from: [codes],
    because: "Backoff means that a client waits longer each time that the server fails again.",
  },
  "RCV-1": {
    from: [`${policy} 1`, `${policy} 3`],
    because: "A receiver refuses on mismatch, and should answer with 2xx otherwise; a refusal makes the sender retry.",
  },
  "RCV-4": {
    from: [`${policy} 1`],
    because: "The signature alone decides, and it covers the raw body, whatever fields the body has.",
  },
  "RCV-5": {
    from: ["Events / Webhook events"],
    because:
      "A webhook gets the types that it subscribed to, and a refused delivery is retried until it is marked failed.",
  },
  "RCV-7": {
    from: [`${policy} 1`],
    because: "A signature that is absent does not match the receiver's own computation.",
  },
  "REQ-5": {
    from: ["Endpoints / Common request rules"],
    because: "White space and the order of keys make no difference to what a JSON text says.",
  },
  "INV-20": {
    from: ["Endpoints / 1. Invoke an agent", codes],
    because: "`query` is a string, so another type is invalid input, which is a 400; a code comes with its own status.",
  },
  "INV-22": {
    from: [bodies, "Endpoints / 1. Invoke an agent"],
    because: "`query` is a string in a JSON body, and a JSON string is Unicode text.",
  },
  "SSE-20": {
    from: [stream, codes],
    because: "`query` is required, and both codes for an absent field are a 400.",
  },
  "SSE-21": {
    from: [stream, codes],
    because: "The path names an agent, and the code for one that does not exist is not tied to an endpoint.",
  },
  "SSE-27": {
    from: [stream],
    because: "A stream that is stopped runs no more, so it is none of the concurrent requests.",
  },
  "SSE-30": {
    from: [bodies],
    because: "An event stream is UTF-8 by its own standard, and its data here is JSON.",
  },
  "HLT-18": {
    from: ["Endpoints / 3. Health check", codes],
    because: "The path names an agent, and the code for one that does not exist is not tied to an endpoint.",
  },
  "LST-6": {
    from: ["Endpoints / 4. List agents"],
    because: "A listing that is paginated by `limit` has pages of that size; where all comes at once it is not.",
  },
  "LST-7": {
    from: ["Endpoints / 4. List agents"],
    because: "Pages that repeat each other are not pages of one listing.",
  },
  "WHK-2": {
    from: ["Endpoints / 6. Create a webhook", codes],
    because: "The table types both fields, and invalid input is a 400.",
  },
  "WHK-3": {
    from: ["Endpoints / 6. Create a webhook"],
    because: "A webhook that is tied to an agent is not one of another agent.",
  },
  "HOOK-22": {
    from: [`${policy} 1`, delivery],
    because: "Receivers answer 401 to a mismatch; an answer that is no 2xx is a failure of the delivery.",
  },
  "HOOK-38": {
    from: [`${policy} 3`, delivery],
    because: "A receiver that does what it should has answered, and 2xx makes the delivery delivered.",
  },
  "HOOK-42": {
    from: ["Events / Webhook events"],
    because: "Both are about one execution, which has one request, one output, and used its tokens and its time once.",
  },
  "HOOK-43": {
    from: ["Events / Webhook events"],
    because:
      "An execution that has completed has neither failed nor timed out, and its response says which of these it did.",
  },
  "AUTH-5": {
    from: ["Authentication 3"],
    because: "A key is itself alone: whatever differs from it is a wrong key.",
  },
  "AUTH-6": {
    from: ["Authentication 1"],
    because: "Every request carries the key as a bearer, so one that carries it otherwise has none.",
  },
  "AUTH-16": {
    from: ["Authentication 3"],
    because:
      "A wrong key yields 401 whatever else is wrong; `AGENT_NOT_FOUND` alone is stated without regard to the key.",
  },
  "ERR-13": {
    from: ["Errors / Status codes"],
    because: "What fails inside the service is an internal error, and an error has one of the two bodies.",
  },
  "ERR-18": {
    from: ["Errors / Status codes", "Errors / Error bodies"],
    because: "200 and 201 mean success, and both error bodies belong to a failure.",
  },
  "ERR-16": {
    from: ["Errors / Error bodies"],
    because: "`reset_at` and `retry_after` speak of the same limit: one as a time, one in seconds from now.",
  },
  "HDR-9": {
    from: [`${scope} 2`],
    because: "Counts of requests, a timestamp and seconds are numbers, and one limit has one value of each.",
  },
  "HDR-11": { from: [`${scope} 2`], because: "What is left of a maximum is not more than the maximum." },
  "HDR-12": { from: [`${scope} 2`], because: "What is left falls by what is used." },
  "HDR-13": { from: [`${scope} 2`], because: "What is left falls by what is used, also by requests at once." },
  "HDR-14": { from: [`${scope} 2`], because: "A time and the seconds until it are two words for one moment." },
  "HDR-15": { from: [`${scope} 2`], because: "The seconds until a fixed moment grow fewer." },
  "HDR-16": { from: [`${scope} 2`, rates], because: "A window ends no later than its own length from now." },
  "HDR-17": { from: [`${scope} 2`, `${scope} 3`], because: "Where the limit is exceeded, no request is left." },
  "HDR-19": { from: [`${scope} 2`, `${scope} 3`], because: "Where no request is left, one more exceeds the limit." },
  "LIM-2": { from: [rates], because: "What a tier publishes is its allowance: less is not what was published." },
  "LIM-4": { from: [rates], because: "What a tier publishes is its allowance: less is not what was published." },
  "LIM-6": { from: [rates], because: "What a tier publishes is its allowance: less is not what was published." },
  "LIM-9": { from: [rates], because: "A rate per API key counts one key's requests, and no other's." },
  "LIM-13": {
    from: [`${scope} 3`, codes],
    because: "Clients wait the stated seconds and then try again, so they are long enough.",
  },
  "LIM-17": {
    from: [rates],
    because: "The column limits concurrent requests, and one that has ended is none.",
  },
  "LIM-18": {
    from: [rates, `${scope} 1`],
    because: "The column limits concurrent requests, and a stream that has not ended is a request that has not.",
  },
  "LIM-23": {
    from: [rates],
    because: "The rate is per API key, and a key that differs is another.",
  },
  "LIM-25": {
    from: [rates],
    because: "The rate is per API key, and the key is the same however its header is written.",
  },
  "VER-4": {
    from: ["Versioning 4"],
    because: "Each agent has one version of its own, and both fields return it.",
  },
};
