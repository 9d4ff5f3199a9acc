import { advisory, gap, must, policy, type ClauseTable } from "../clause.ts";

const rates = "Limits / Request rate (per API key)";
const scope = "Limits / Scope of limits";

/** Clauses about the limits of tiers: numbers, scope and refusals. */
export const limitClauses = {
  "LIM-1": must(rates, "Not more requests are admitted in a minute than the key's tier publishes."),
  "LIM-2": must(rates, "As many requests are admitted in a minute as the key's tier publishes."),
  "LIM-3": must(rates, "Not more requests are admitted in an hour than the key's tier publishes."),
  "LIM-4": must(rates, "As many requests are admitted in an hour as the key's tier publishes."),
  "LIM-5": must(rates, "Not more requests run at once than the key's tier publishes."),
  "LIM-6": must(rates, "As many requests run at once as the key's tier publishes."),
  "LIM-7": must(rates, "A burst of the published size is admitted, sent as fast as the concurrency limit allows."),
  "LIM-8": gap(
    rates,
    "What the burst allowance adds to the minute's limit is not stated, and team's burst is not shown.",
  ),
  "LIM-9": must(rates, "Limits are per API key: one key's use does not touch another's."),
  "LIM-10": must(`${scope} 1`, "Invoke is subject to the limits."),
  "LIM-11": must(`${scope} 1`, "A stream counts as a single request."),
  "LIM-12": must(`${scope} 3`, "Beyond a limit the answer is 429 with the error body."),
  "LIM-13": must(`${scope} 3`, "After `retry_after` seconds a request is admitted."),
  "LIM-14": advisory(
    `${scope} 3`,
    "`retry_after` is the time that is left: well before it, a request is still refused.",
  ),
  "LIM-15": gap(`${scope} 5`, "Whether the hourly window is fixed or rolling is not shown; nor is the minute's."),
  "LIM-16": gap(`${scope} 1`, "Whether refused requests use up the allowance is not stated."),
  "LIM-17": must(
    rates,
    "A slot is given back when its request ends, well or badly: the column limits concurrent requests, and one that has ended is none.",
  ),
  "LIM-18": must(
    rates,
    "A stream holds its slot until it ends: the column limits concurrent requests, and a stream is a single request (Scope of limits 1).",
  ),
  "LIM-19": must(
    "Limits / Token quota per month",
    "Not more tokens are spent in a month than the key's tier publishes.",
  ),
  "LIM-20": gap("Limits / Token quota per month", "What a request beyond the token quota gets is not shown."),
  "LIM-21": policy(
    `${scope} 4`,
    "An agent's deployment defaults to a timeout of 30 seconds and 512MB of memory, both adjustable in its file.",
    {
      untestable:
        "Memory is not visible over HTTP, and the timeout belongs to the agent's file, which the interface does not show.",
    },
  ),
  "LIM-22": gap(`${scope} 6`, "The maximum size of a request body, or length of a query, is not shown."),
  "LIM-23": must(
    rates,
    "Requests without a valid key do not use up the allowance of the key they resemble: the rate is per API key, and a key that differs is another.",
  ),
  "LIM-24": policy(rates, "Limits of the enterprise tier are custom.", {
    untestable: "Custom numbers are judged by LIM-1 to LIM-7 when the target file gives them.",
  }),
  "LIM-25": must(
    rates,
    "One key is one allowance, however its header is written: the rate is per API key, and the key is the same.",
  ),
  "LIM-26": gap(`${scope} 1`, "Whether errors such as 400 and 404 use up the allowance is not stated."),
  "LIM-27": must(
    `${scope} 4`,
    "An agent that takes longer than 30 seconds, and whose file sets no timeout, is ended by the default timeout of 30 seconds.",
    { since: "1.2" },
  ),
} as const satisfies ClauseTable;
