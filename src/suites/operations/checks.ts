import { type Exchange, statusOf, bodyJson } from "../../evidence/exchange.ts";
import { type Check, check, checkEvery, observe, suite } from "../../run/judge/check.ts";
import {
  breach,
  holds,
  observed,
  type Unproven,
  unproven,
  type Finding,
  inapplicable,
} from "../../run/judge/finding.ts";
import { need } from "../../run/skip-reason.ts";
import { responseCases, emptyMatrix } from "../shared/cases.ts";
import { allExchanges, exchangesOf } from "../shared/all-exchanges.ts";
import {
  batchLength,
  batchSubmitted,
  type BatchSubmitted,
  type HandleClause,
  operationHandleClauses,
  handleOf,
  operationHandleRules,
  isHandle,
  type LongBatch,
  longBatchTokensCounted,
  longBatchSubmitted,
  plainStart,
  queryOfDelivery,
  stateOf,
} from "./probes.ts";
import {
  describeResponse,
  describeStatus,
  hasNonJsonBody,
  isInconclusive,
  isSuccess,
  outcomeOf,
} from "../shared/response.ts";
import { sumOf } from "../../base/numbers.ts";
import { formatValue, getPath } from "../../base/json.ts";
import { deliveryJson } from "../../evidence/delivery.ts";
import { usageCountIn } from "../../rules/limits/usage-report.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { otherKeyChecks } from "./other-keys.ts";
import { inapplicableForFewRequests } from "../shared/few-requests.ts";
import { unusualInvoke } from "../stream/unusual-probes.ts";

const startsOf = ({ submitted, started = null }: BatchSubmitted): Exchange[] =>
  [submitted, started].filter((each) => each !== null);

const handlesOf = (evidence: BatchSubmitted): Exchange[] =>
  startsOf(evidence).filter((each) => isSuccess(each) && isHandle(each));

function missingHandle(evidence: BatchSubmitted): Unproven | null {
  if (handlesOf(evidence).length > 0) return null;
  const [refused] = startsOf(evidence).filter((each) => !isSuccess(each));
  if (refused === undefined)
    return unproven("the batch was processed at once: no long-running operation was observed", need("paths.start"));
  const what = refused === evidence.submitted ? "the batch" : "the start of an operation";
  return unproven(`${what} was not accepted (${outcomeOf(refused)})`);
}

const checkHandles = (clause: HandleClause): Check =>
  checkEvery(
    clause,
    { all: allExchanges, batch: batchSubmitted },
    {
      also: [longBatchSubmitted],
      matrix: emptyMatrix("every operation handle that a batch, or the start of an operation, is answered with"),
      members: ({ all, batch }) => {
        const starts = startsOf(batch);
        const others = exchangesOf(all, "batch").filter((each) => !starts.some(({ id }) => each.id === id));
        const handles = [...starts, ...others].filter(
          (each) => each.key !== null && isSuccess(each) && isHandle(each) && !hasNonJsonBody(each),
        );
        return responseCases(all, handles);
      },
      judge: (exchange) => operationHandleRules[clause](handleOf(exchange), exchange),
      whenEmpty: ({ batch }) =>
        missingHandle(batch) ?? unproven("there is no `operation_id` to compare it with (OPS-1), or no JSON to read"),
      noun: "handles",
    },
  );

const checkLongBatch = (clause: HandleClause): Check =>
  check(
    clause,
    longBatchTokensCounted,
    (batch) => {
      if (batch === null) return inapplicableForFewRequests;
      const { submitted } = batch;
      // A target may reject the batch, because the document names no maximum length.
      if (!isSuccess(submitted)) return unproven(`the batch was not accepted (${describeStatus(submitted)})`);
      if (!isHandle(submitted)) return inapplicable("the batch was processed at once");
      const handle = handleOf(submitted);
      const { operationId, checkUrl, status } = handle;
      const mismatch = operationHandleRules[clause](handle, submitted);
      if (mismatch === undefined) return unproven("there is no `operation_id` to compare it with (OPS-1)");
      const fields = JSON.stringify({ operation_id: operationId, status, check_url: checkUrl });
      return mismatch === null ? holds() : breach(mismatch.expected, fields, submitted);
    },
    { as: "long batch", since: "1.2" },
  );

function judgeUnusualEntry(batch: LongBatch | null): Finding<never> {
  if (batch?.unusual === undefined) return inapplicableForFewRequests;
  const { submitted, unusual, completed } = batch;
  if (!isSuccess(submitted)) return unproven(`the batch was not accepted (${describeStatus(submitted)})`);
  if (unusual.id !== submitted.id)
    return breach("accepted, as the batch without this entry is", describeStatus(unusual), unusual, submitted);
  const plain = completed.filter((each) => queryOfDelivery(each).startsWith(plainStart)).length;
  if (plain < batchLength - 1 || completed.length >= batchLength) return holds();
  return breach(
    `\`agent.completed\` of each of ${batchLength} entries`,
    `${plain}, and none of the entry with optional fields and a query that is not ASCII`,
    submitted,
    ...completed.slice(0, 1),
  );
}

function judgeTokens(batch: LongBatch | null): Finding<never> {
  if (batch === null) return inapplicableForFewRequests;
  const { before, after, completed, submitted } = batch;
  const reported = completed.map((each) => getPath(deliveryJson(each), "data", "tokens_used"));
  const counts = reported.filter((each): each is number => Number.isInteger(each));
  if (counts.length < batchLength)
    return inapplicable(`${counts.length} of ${batchLength} executions reported their tokens in a delivery`);
  const [first, last] = [before, after].map((each) => usageCountIn(bodyJson(each), "tokens"));
  if (first === undefined || last === undefined || first === null || last === null)
    return unproven(`the tokens could not be read (${outcomeOf(before)}, ${outcomeOf(after)})`);
  if (last.used < first.used || last.limit !== first.limit) return unproven("the month changed meanwhile");
  const sum = sumOf(counts);
  const grown = last.used - first.used;
  return grown === sum
    ? holds()
    : breach(
        `\`tokens.used\` grows by ${sum}, the \`tokens_used\` of ${batchLength} deliveries of a batch`,
        `it grew by ${grown}`,
        submitted,
        after,
        ...completed.slice(0, 1),
      );
}

export const batchTokensCheck = check(
  "USE-8",
  { batch: longBatchTokensCounted, sent: invokedWithWebhooks },
  ({ batch }) => judgeTokens(batch),
  { as: "batch", since: "1.2" },
);

const noBatchPath = unproven("the path of a batch is not known", need("paths.batch"));

export const operations = suite("Operations and batch", [
  ...operationHandleClauses.map(checkHandles),
  ...operationHandleClauses.map(checkLongBatch),
  ...otherKeyChecks,
  observe("OPS-4", batchSubmitted, ({ polls }) => {
    const [first] = polls;
    return first === undefined
      ? unproven("no operation was started")
      : observed(`GET answers ${describeResponse(first)}`);
  }),
  observe("OPS-5", batchSubmitted, (evidence) => {
    const { polls } = evidence;
    const [handle] = handlesOf(evidence);
    if (polls.length === 0 || handle === undefined) return unproven("no operation was started");
    const states = [handleOf(handle).status, ...polls.filter((each) => statusOf(each) !== 429).map(stateOf)];
    const moves = states.filter((state, index) => index === 0 || state !== states[index - 1]);
    return observed(`the status goes ${moves.map(formatValue).join(", ")}`);
  }),
  observe("OPS-6", batchSubmitted, ({ submitted }) => {
    if (submitted === null) return noBatchPath;
    if (!isSuccess(submitted)) return unproven(`the batch was not accepted (${outcomeOf(submitted)})`);
    return observed(isHandle(submitted) ? "a batch starts one" : "a batch does not start one");
  }),
  check("BAT-1", batchSubmitted, ({ submitted, control }) => {
    if (submitted === null) return noBatchPath;
    if (isSuccess(submitted)) return holds();
    if (isInconclusive(submitted))
      return unproven(`the batch was neither accepted nor rejected (${outcomeOf(submitted)})`);
    return isSuccess(control)
      ? breach("a batch of two queries is accepted", describeStatus(submitted), submitted, control)
      : unproven(`one of its queries alone did not succeed either (${outcomeOf(control)})`);
  }),
  check(
    "BAT-1",
    { batch: longBatchTokensCounted, sent: invokedWithWebhooks, invoke: unusualInvoke },
    ({ batch, invoke }) =>
      invoke === null || isSuccess(invoke.tried.together)
        ? judgeUnusualEntry(batch)
        : unproven("an invoke with such a body did not succeed either"),
    { as: "unusual entry", since: "1.2" },
  ),
  observe("BAT-2", batchSubmitted, ({ path, submitted }) =>
    submitted === null ? noBatchPath : observed(`POST ${path}, as the target file says: ${outcomeOf(submitted)}`),
  ),
  observe("BAT-3", batchSubmitted, ({ submitted }) =>
    submitted === null ? noBatchPath : observed(describeResponse(submitted)),
  ),
]);
