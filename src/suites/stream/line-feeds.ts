import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import { invoked } from "../invoke/probes.ts";
import type { Accepts } from "../shared/acceptance.ts";
import { describeStatus, hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { streamed } from "./probes.ts";
import { inapplicableForFewRequests, probeIfManyRequests } from "../shared/few-requests.ts";
import { isEventStream } from "./events.ts";

const since = "1.2";

/** A query with an empty line. A faulty server could cut the query at this line. */
const queryOfLines = "Hello.\n\nPlease answer in a few words.";

interface LineFeedsSent {
  readonly invoked: Exchange;
  readonly streamed: Exchange;
}

const lineFeedsSent = probeIfManyRequests(
  "an agent is invoked, and streams, with two line feeds in the query",
  {
    needs: ["agents.answering", "agents.streaming"],
    requests: 2,
    since,
  },
  async ({ client, given }): Promise<LineFeedsSent> => ({
    invoked: await client.invoke(given["agents.answering"], { query: queryOfLines }),
    streamed: await client.stream(given["agents.streaming"], { query: queryOfLines }),
  }),
);

const checkLineFeeds = (
  clause: "INV-1" | "SSE-1",
  name: keyof LineFeedsSent,
  control: Probe<{ readonly exchange: Exchange }>,
  accepts: Accepts,
): Check =>
  check(
    clause,
    { lines: lineFeedsSent, control },
    ({ lines, control: { exchange: plain } }): Finding<never> => {
      if (lines === null) return inapplicableForFewRequests;
      if (!accepts(plain)) return unproven(`the same request without line feeds did not succeed (${outcomeOf(plain)})`);
      const exchange = lines[name];
      if (accepts(exchange)) return holds();
      return hasStatus(exchange, 400, 422)
        ? breach("a query with two line feeds is accepted", describeStatus(exchange), exchange, plain)
        : unproven(`the request got ${outcomeOf(exchange)}`);
    },
    { as: "line feeds", since },
  );

export const invokedLinesCheck = checkLineFeeds("INV-1", "invoked", invoked, isSuccess);

export const streamedLinesCheck = checkLineFeeds("SSE-1", "streamed", streamed, isEventStream);
