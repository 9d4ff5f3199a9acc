import type { Row } from "../../base/covering-array.ts";
import { publishedTierNames } from "../../spec/tiers.ts";
import { formatValue } from "../../base/json.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { dimensions } from "../../spec/dimensions.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import { errorFieldOf, isStreamAccepted } from "../stream/events.ts";
import { pairRequestsSent, type GeneratedRequest } from "./probe.ts";

export const isOneOf = (value: string | undefined, ...those: readonly string[]): boolean => those.includes(value ?? "");

export const isDocumented = ({ method }: Row): boolean => method === "documented";

export const hasValidTierKey = ({ key }: Row): boolean => isOneOf(key, ...publishedTierNames, "enterprise");

const answeringAgents = ["answering", "streaming", "remembering"] as const;

export const isLegalCall = (row: Row, endpoint: string): boolean =>
  row["endpoint"] === endpoint &&
  isDocumented(row) &&
  hasValidTierKey(row) &&
  isOneOf(row["body"], "valid", "spelled otherwise") &&
  isOneOf(row["agent"], ...answeringAgents) &&
  // A server may restrict the characters of a session id.
  row["session"] !== "not ASCII";

/** Minimum number of failed requests with a value, e.g. `temperature=2`, before the check blames the value. */
const minFailures = 2;

const names = ["body", "session", "query", "temperature", "maxTokens", "context", "unknownParameter"] as const;

const isFailure = ({ exchange }: GeneratedRequest): boolean =>
  statusOf(exchange) === 500 || (statusOf(exchange) === 200 && hasErrorEvent(exchange));

const hasErrorEvent = (exchange: Exchange): boolean =>
  exchange.request.url.endsWith("/stream") && !isStreamAccepted(exchange);

/** Whether the model was overloaded, which has nothing to do with the request. */
const isOverloaded = ({ exchange }: GeneratedRequest): boolean => errorFieldOf(exchange, "code") === "CAPACITY_ERROR";

function findFailingValue(calls: readonly GeneratedRequest[], generated: readonly GeneratedRequest[]) {
  for (const name of names)
    for (const value of dimensions[name].values) {
      const having = calls.filter(({ row }) => row[name] === value);
      if (having.length >= minFailures && having.every(isFailure) && isSuccessBetween(having, generated))
        return { name, value, having };
    }
  return null;
}

/**
 * Whether an agent ran successfully between the first and the last failure. If none did, an outage of the model may
 * have caused the failures.
 */
function isSuccessBetween(failures: readonly GeneratedRequest[], generated: readonly GeneratedRequest[]): boolean {
  const times = failures.map(({ exchange }) => exchange.sentMs);
  const [start, end] = [Math.min(...times), Math.max(...times)];
  return generated.some((each) => hasSucceeded(each) && each.exchange.sentMs >= start && each.exchange.sentMs <= end);
}

const hasSucceeded = (request: GeneratedRequest): boolean =>
  isSuccess(request.exchange) &&
  !isFailure(request) &&
  (["invoke", "stream"] as const).some((endpoint) => isLegalCall(request.row, endpoint));

/**
 * Replaces a session id that is not ASCII, so that `isLegalCall` accepts the row. A server may reject such an id, but
 * not with 500.
 */
const withPlainSession = (row: Row): Row => (row["session"] === "not ASCII" ? { ...row, session: "plain" } : row);

export const noValueFailsCheck = (clause: "INV-1" | "SSE-1", endpoint: "invoke" | "stream"): Check =>
  check(
    clause,
    pairRequestsSent,
    ({ generated }): Finding<never> => {
      const answered = generated.filter(
        ({ row, exchange }) => isLegalCall(withPlainSession(row), endpoint) && exchange.answer.kind === "answered",
      );
      // Ignores agents that never succeeded: such an agent may not support this endpoint.
      const agents = new Set(answered.filter((each) => !isFailure(each)).map(({ row }) => row["agent"]));
      const calls = answered.filter((each) => agents.has(each.row["agent"]) && !isOverloaded(each));
      if (calls.every(isFailure)) return unproven("no such request succeeded");
      const found = findFailingValue(calls, generated);
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
