import type { Row } from "../../base/covering-array.ts";
import { formatValue } from "../../base/format-value.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { dimensions } from "../../spec/dimensions.ts";
import { outcomeOf } from "../shared/response.ts";
import { errorFieldOf, isStreamAccepted } from "../stream/events.ts";
import { isLegalCall } from "./legal-calls.ts";
import { cornersRequested, type GeneratedRequest } from "./probe.ts";

/** A value counts as the cause of failures if at least this many requests have the value, and all fail. */
const minFailures = 2;

const names = ["body", "session", "query", "temperature", "maxTokens", "context", "unknownParameter"] as const;

const hasFailed = (exchange: Exchange): boolean =>
  statusOf(exchange) === 500 || (statusOf(exchange) === 200 && hasErrorEvent(exchange));

const hasErrorEvent = (exchange: Exchange): boolean =>
  exchange.request.url.endsWith("/stream") && !isStreamAccepted(exchange);

/** Whether the model was overloaded, which has nothing to do with the request. */
const isOverloaded = ({ exchange }: GeneratedRequest): boolean => errorFieldOf(exchange, "code") === "CAPACITY_ERROR";

function findFailingValue(calls: readonly GeneratedRequest[]) {
  for (const name of names)
    for (const value of dimensions[name].values) {
      const having = calls.filter(({ row }) => row[name] === value);
      if (having.length >= minFailures && having.length < calls.length && having.every(isFailure))
        return { name, value, having };
    }
  return null;
}

const isFailure = ({ exchange }: GeneratedRequest): boolean => hasFailed(exchange);

/** A server may reject a session id that is not ASCII, but must not answer 500. */
const withPlainSession = (row: Row): Row => (row["session"] === "not ASCII" ? { ...row, session: "plain" } : row);

export const checkFailures = (clause: "INV-1" | "SSE-1", endpoint: "invoke" | "stream"): Check =>
  check(
    clause,
    cornersRequested,
    ({ generated }): Finding<never> => {
      const answered = generated.filter(
        ({ row, exchange }) => isLegalCall(withPlainSession(row), endpoint) && exchange.answer.kind === "answered",
      );
      // Some agents may not be made for this endpoint.
      const agents = new Set(answered.filter((each) => !isFailure(each)).map(({ row }) => row["agent"]));
      const calls = answered.filter((each) => agents.has(each.row["agent"]) && !isOverloaded(each));
      if (calls.every(isFailure)) return unproven("no such request succeeded");
      const found = findFailingValue(calls);
      if (found === null) return holds();
      const [first] = found.having;
      return breach(
        `no failure for ${found.name} ${formatValue(found.value)}, as for other values`,
        `${first === undefined ? "" : outcomeOf(first.exchange)} in ${found.having.length} of ${found.having.length} requests`,
        ...found.having.slice(0, minFailures).map(({ exchange }) => exchange),
      );
    },
    { as: "fails for no value", since: "1.2" },
  );
