import { encodedSegment } from "../../base/path-segment.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { check, observe, suite } from "../../run/check.ts";
import { breach, holds, observed, type Unproven, unproven } from "../../run/finding.ts";
import { batchSubmitted, type BatchSubmitted, handleOf, stateOf } from "./probes.ts";
import { hasStatus, isSuccess, outcomeOf, show } from "../answers/shape.ts";
import { answerSaid, isOpen, statusSaid } from "../answers/wording.ts";

/** Whether an answer is meant as an operation handle: by any of its own fields, or by its status. */
function isHandle(exchange: Exchange): boolean {
  const { operationId, status, checkUrl } = handleOf(exchange);
  return operationId !== undefined || checkUrl !== undefined || status === "pending" || hasStatus(exchange, 202);
}

/** Why there is no handle to judge; `null` where there is one. */
function withoutHandle({ submitted }: BatchSubmitted): Unproven | null {
  if (!isSuccess(submitted)) return unproven(`the batch was not accepted (${outcomeOf(submitted)})`);
  return isHandle(submitted) ? null : unproven("the batch was answered at once: no long-running operation was seen");
}

/** The forms that `check_url` may have: with the prefix under which the target stands, where it has one. */
function checkUrlsOf({ request: { url } }: Exchange, operationId: string): string[] {
  const prefix = new URL(url).pathname.replace(/\/v1\/.*$/, "");
  return [operationId, encodedSegment(operationId)].flatMap((id) => [
    `/v1/operations/${id}`,
    `${prefix}/v1/operations/${id}`,
  ]);
}

export const operations = suite("Operations and batch", [
  check("OPS-1", batchSubmitted, (evidence) => {
    const { operationId } = handleOf(evidence.submitted);
    return (
      withoutHandle(evidence) ??
      (typeof operationId === "string"
        ? holds()
        : breach("`operation_id`, a string", show(operationId), evidence.submitted))
    );
  }),
  check("OPS-2", batchSubmitted, (evidence) => {
    const { status } = handleOf(evidence.submitted);
    return (
      withoutHandle(evidence) ??
      (status === "pending" ? holds() : breach("`status` is `pending`", show(status), evidence.submitted))
    );
  }),
  check("OPS-3", batchSubmitted, (evidence) => {
    const { operationId, checkUrl } = handleOf(evidence.submitted);
    const unable = withoutHandle(evidence);
    if (unable !== null) return unable;
    if (typeof operationId !== "string") return unproven("there is no `operation_id` to compare it with (OPS-1)");
    return checkUrlsOf(evidence.submitted, operationId).some((each) => each === checkUrl)
      ? holds()
      : breach(`\`check_url\` is ${show(`/v1/operations/${operationId}`)}`, show(checkUrl), evidence.submitted);
  }),
  observe("OPS-4", batchSubmitted, ({ polls }) => {
    const [first] = polls;
    return first === undefined ? unproven("no operation was started") : observed(`GET answers ${answerSaid(first)}`);
  }),
  observe("OPS-5", batchSubmitted, ({ submitted, polls }) => {
    if (polls.length === 0) return unproven("no operation was started");
    const states = [handleOf(submitted).status, ...polls.filter((each) => statusOf(each) !== 429).map(stateOf)];
    const moves = states.filter((state, index) => index === 0 || state !== states[index - 1]);
    return observed(`the status goes ${moves.map(show).join(", ")}`);
  }),
  observe("OPS-6", batchSubmitted, ({ submitted }) => {
    if (!isSuccess(submitted)) return unproven(`the batch was not accepted (${outcomeOf(submitted)})`);
    return observed(isHandle(submitted) ? "a batch starts one" : "a batch does not start one");
  }),
  check("BAT-1", batchSubmitted, ({ submitted, control }) => {
    if (isSuccess(submitted)) return holds();
    if (isOpen(submitted)) return unproven(`the batch came to no verdict (${outcomeOf(submitted)})`);
    return isSuccess(control)
      ? breach("a batch of two queries is accepted", statusSaid(submitted), submitted, control)
      : unproven(`one of its queries alone did not succeed either (${outcomeOf(control)})`);
  }),
  observe("BAT-2", batchSubmitted, ({ path, submitted }) =>
    observed(`POST ${path}, as the target file says: ${outcomeOf(submitted)}`),
  ),
  observe("BAT-3", batchSubmitted, ({ submitted }) => observed(answerSaid(submitted))),
]);
