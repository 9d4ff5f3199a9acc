import { encodedSegment } from "../../base/path-segment.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { type Check, check, observe, suite } from "../../run/check.ts";
import { breach, holds, observed, type Unproven, unproven } from "../../run/finding.ts";
import type { Wrong } from "../../base/wrong.ts";
import { universal } from "../../run/universal.ts";
import { membersOf } from "../answers/field-checks.ts";
import { endpointOf, everything } from "../answers/recorded.ts";
import { batchSubmitted, type BatchSubmitted, type Handle, handleOf, stateOf } from "./probes.ts";
import { hasOtherBody, hasStatus, isSuccess, outcomeOf, show } from "../answers/shape.ts";
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

/** Judges every handle that a batch was answered with, whoever submitted it. */
const onHandles = (
  clause: "OPS-1" | "OPS-2" | "OPS-3",
  say: (handle: Handle, exchange: Exchange) => Wrong | null | undefined,
): Check =>
  universal(
    clause,
    { all: everything, batch: batchSubmitted },
    {
      universe: { says: "every operation handle that a batch is answered with", cells: [], visitor: null },
      members: ({ all, batch: { submitted } }) => {
        const others = all.exchanges.filter((each) => each.id !== submitted.id && endpointOf(each, all) === "batch");
        const handles = [submitted, ...others].filter(
          (each) => each.key !== null && isSuccess(each) && isHandle(each) && !hasOtherBody(each),
        );
        return membersOf(handles, all);
      },
      say: (exchange) => say(handleOf(exchange), exchange),
      none: ({ batch }) =>
        withoutHandle(batch) ?? unproven("there is no `operation_id` to compare it with (OPS-1), or no JSON to read"),
      noun: "handles",
    },
  );

export const operations = suite("Operations and batch", [
  onHandles("OPS-1", ({ operationId }) =>
    typeof operationId === "string" ? null : { expected: "`operation_id`, a string", actual: show(operationId) },
  ),
  onHandles("OPS-2", ({ status }) =>
    status === "pending" ? null : { expected: "`status` is `pending`", actual: show(status) },
  ),
  onHandles("OPS-3", ({ operationId, checkUrl }, exchange) => {
    if (typeof operationId !== "string") return undefined;
    return checkUrlsOf(exchange, operationId).some((each) => each === checkUrl)
      ? null
      : { expected: `\`check_url\` is ${show(`/v1/operations/${operationId}`)}`, actual: show(checkUrl) };
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
