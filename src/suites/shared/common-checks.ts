import { getPath } from "../../base/json.ts";
import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { fieldMismatch } from "../../rules/bodies/fields.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import type { Check, EvidenceOf, ProbesByName } from "../../run/judge/check.ts";
import { checkEvery, type ClauseCase } from "../../run/judge/check-every.ts";
import { type Breach, breach, type Finding, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import type { JudgedId, ReadingOf } from "../../spec/clauses.ts";
import type { FieldTableName } from "../../spec/fields.ts";
import type { RequirementSet } from "../../spec/requirements.ts";
import { type AllExchanges, allExchanges, isSpecifiedRequest, successesOf } from "./all-exchanges.ts";
import { judgePresence, responseCases, fieldMatrix, responseCells, responseMatrix } from "./cases.ts";
import { hasStatus, outcomeOf } from "./response.ts";

export function judgeOk(exchange: Exchange): { readonly kind: "holds" } | Breach | Unproven {
  if (hasStatus(exchange, 429)) return unproven("a limit refused the request (429)");
  return hasStatus(exchange, 200) ? holds() : breach("200", outcomeOf(exchange), exchange);
}

type EndpointWith200 = "invoke" | "stream" | "health" | "list" | "usage" | "keyUsage";

export const checkEverySuccess = (
  clause: "INV-1" | "SSE-1" | "HLT-1" | "LST-1" | "USE-1" | "KEY-9",
  endpoint: EndpointWith200,
  isOpen: (exchange: Exchange, all: AllExchanges) => boolean = () => false,
): Check =>
  checkEvery(clause, allExchanges, {
    as: "every",
    since: "1.1",
    matrix: responseMatrix(`every success of ${endpoint}`, responseCells([200], [endpoint])),
    members: (all: AllExchanges) => {
      const succeeded = successesOf(all, endpoint);
      return responseCases(
        succeeded.filter((each) => each.key !== null && isSpecifiedRequest(each, all) && !isOpen(each, all)),
        all,
      );
    },
    judge: (exchange) => (hasStatus(exchange, 200) ? null : { expected: "200", actual: outcomeOf(exchange) }),
    whenEmpty: unproven("no request succeeded"),
  });

/** Whether `query`, `temperature` or `max_tokens` is unusual. The document then does not define the response. */
export function isOpenExecution({ request }: Exchange): boolean {
  const sent = sentJson(request);
  const query = getPath(sent, "query");
  const temperature = getPath(sent, "parameters", "temperature") ?? 0;
  const maxTokens = getPath(sent, "parameters", "max_tokens") ?? 1;
  const isInRange =
    typeof temperature === "number" &&
    temperature >= 0 &&
    temperature <= 2 &&
    Number.isInteger(maxTokens) &&
    Number(maxTokens) > 0;
  return typeof query !== "string" || query === "" || !isInRange;
}

interface FieldCheckOptions<E, T, R extends string> {
  readonly table: FieldTableName;
  readonly members: (evidence: E) => readonly ClauseCase<T>[];
  readonly whenEmpty: Finding<R> | ((evidence: E) => Finding<R>);
  readonly judge?: (subject: T) => Mismatch | null;
  readonly presencePath?: string;
  readonly as?: string;
  readonly since?: RequirementSet;
  readonly noun?: string;
}

export const checkFields = <
  const K extends JudgedId,
  const P extends Probe | ProbesByName,
  T extends { readonly root: unknown },
>(
  clause: K,
  on: P,
  { table, judge, presencePath, ...options }: FieldCheckOptions<EvidenceOf<P>, T, ReadingOf<K>>,
): Check =>
  checkEvery(clause, on, {
    ...options,
    matrix: fieldMatrix(table),
    judge: (subject: T) => {
      const mismatch = fieldMismatch(table, clause, subject.root);
      return mismatch === null && judge !== undefined ? judge(subject) : mismatch;
    },
    judgeAcross: (subjects: readonly T[]) =>
      judgePresence(
        table,
        clause,
        subjects.map(({ root }) => root),
        presencePath,
      ),
  });
