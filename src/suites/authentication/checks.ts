import type { Exchange } from "../../evidence/exchange.ts";
import type { EndpointName } from "../../interface/endpoints.ts";
import { check, observe, suite } from "../../run/check.ts";
import { breach, type Finding, follows, holds, observed, unproven } from "../../run/finding.ts";
import type { Cell, Tried } from "../access/asking.ts";
import { breachOf, judgeCells, judgeWhereClosed, nothingShown, type Sorted, sortCells } from "../access/judge.ts";
import { type KindOfKey, kindsOf } from "../access/kinds.ts";
import { alertCrossed } from "../alerts/probes.ts";
import { codeOf, errorOf } from "../answers/error-body.ts";
import { endpointOf, type Everything, everything, hasValidKey, provenEndpoints } from "../answers/recorded.ts";
import { hasStatus, isSuccess, outcomeOf, show } from "../answers/shape.ts";
import { isOpen } from "../answers/wording.ts";
import { invoked } from "../invoke/probes.ts";
import { keyUsageRead, webhookCreated } from "../keys/probes.ts";
import { batchSubmitted } from "../operations/probes.ts";
import { streamed } from "../stream/probes.ts";
import { everyKeyUsed, expiredAsked } from "./probes.ts";
import { signingChecks } from "./signing.ts";
import { type Strangers, strangersAsked } from "./strangers.ts";

/** What can be said of a clause that has no readings. */
type PlainFinding = Finding<never>;

/** All that was sent, with what came of strangers. */
interface Both {
  readonly strangers: Strangers;
  readonly all: Everything;
}

export const both = { strangers: strangersAsked, all: everything } as const;

/** With a valid key's request to each endpoint that every target has, so that they have their positive controls. */
export const onEveryEndpoint = { ...both, invoked, streamed, read: keyUsageRead } as const;
/** With a good key's requests to every endpoint, as far as the target has them. */
export const alsoEverywhere = {
  also: [invoked, streamed, keyUsageRead, webhookCreated, alertCrossed, batchSubmitted],
} as const;

/** Endpoints that every target has: not to be shown on one of them is not to be shown. */
const everywhere = [
  "invoke",
  "stream",
  "health",
  "list",
  "usage",
  "keyUsage",
] as const satisfies readonly EndpointName[];

const ofKinds = ({ cells }: Tried, ...kinds: readonly KindOfKey[]): Cell[] =>
  cells.filter(({ kind }) => kinds.includes(kind));

const at = (cells: readonly Cell[], endpoint: EndpointName): Exchange | undefined =>
  cells.find((cell) => cell.endpoint === endpoint)?.exchange;

const isRefused = ({ exchange }: Cell): boolean => hasStatus(exchange, 401);

/** The first cell that shows something: what it shows is AUTH-2's or AUTH-3's, on other endpoints AUTH-8's. */
const firstShown = (cells: readonly Cell[], proven: ReadonlySet<EndpointName>): Cell | undefined =>
  cells.find((cell) => proven.has(cell.endpoint) && !isOpen(cell.exchange));

/** A key that comes close to a good one is refused wherever a wrong key is. */
function judgeNearMiss(expected: string, { strangers, all }: Both, ...kinds: readonly KindOfKey[]): PlainFinding {
  const refusing = new Set(
    ofKinds(strangers, "a wrong key")
      .filter(isRefused)
      .map(({ endpoint }) => endpoint),
  );
  const compared = ofKinds(strangers, ...kinds).filter(({ endpoint }) => refusing.has(endpoint));
  return judgeCells(expected, compared, provenEndpoints(all));
}

/** Holds only where it is shown on every endpoint that can be asked. */
function judgeEveryEndpoint(
  expected: string,
  cells: readonly Cell[],
  { right, wrong }: Pick<Sorted, "right" | "wrong">,
): PlainFinding {
  if (wrong.length > 0) return breachOf(expected, wrong, right.length + wrong.length);
  const shown = new Set(right.map(({ endpoint }) => endpoint));
  const wanted = new Set<EndpointName>([...everywhere, ...cells.map(({ endpoint }) => endpoint)]);
  const open = [...wanted].filter((endpoint) => !shown.has(endpoint));
  if (open.length === 0) return holds();
  return unproven(
    `not proven on ${open.join(", ")}: no request with a valid key succeeded there, or a 429 came first`,
    open.includes("stream") ? "`agents.streaming` in the target file" : null,
  );
}

/** 401 on every endpoint, as on the first one; where the first has none, this adds nothing to its breach. */
function judgeUniform({ strangers, all }: Both, kind: KindOfKey): PlainFinding {
  const cells = ofKinds(strangers, kind);
  const proven = provenEndpoints(all);
  const first = firstShown(cells, proven);
  if (first === undefined || !isRefused(first)) return unproven(`${kind} does not meet a 401 at all (AUTH-2, AUTH-3)`);
  const { right, wrong } = sortCells(cells, proven);
  const [refused, others] = [wrong.filter(isRefused), wrong.filter((cell) => !isRefused(cell))];
  // The code is AUTH-3's.
  return judgeEveryEndpoint("401 on every endpoint", cells, { right: [...right, ...refused], wrong: others });
}

/** REQ-2 is judged on the same evidence; it stands with the common request rules. */
export function judgeKeyRequired({ strangers, all }: Both): PlainFinding {
  const cells = ofKinds(strangers, "no key");
  const proven = provenEndpoints(all);
  const wrong = cells.filter(({ exchange }) => isSuccess(exchange));
  const right = cells.filter(({ endpoint, exchange }) => proven.has(endpoint) && !isOpen(exchange));
  return judgeEveryEndpoint("a request without a key is not let in", cells, {
    wrong,
    right: right.filter((cell) => !wrong.includes(cell)),
  });
}

/** The first endpoint shows whether such a key is refused at all; where it is not, all that let it in are named. */
function judgeFirst(expected: string, { strangers, all }: Both, kind: KindOfKey): PlainFinding | Sorted {
  const cells = ofKinds(strangers, kind);
  const proven = provenEndpoints(all);
  const first = firstShown(cells, proven);
  if (first === undefined) return nothingShown(cells);
  const sorted = sortCells(cells, proven);
  return isRefused(first) ? sorted : breachOf(expected, sorted.wrong, sorted.right.length + sorted.wrong.length);
}

function judgeWrongKey(evidence: Both): PlainFinding {
  const expected = "401 with the code `INVALID_API_KEY`";
  const judged = judgeFirst(expected, evidence, "a wrong key");
  if ("kind" in judged) return judged;
  // Another status on another endpoint is AUTH-8's.
  const wrong = judged.wrong.filter(isRefused);
  if (wrong.length > 0) return breachOf(expected, wrong, judged.right.length + wrong.length);
  return judged.right.length > 0 ? holds() : unproven("the 401 has no error code that can be read (ERR-2 to ERR-5)");
}

export const authentication = suite("Authentication", [
  check("AUTH-1", { all: everything, everyKeyUsed }, ({ all, everyKeyUsed: { answers } }) => {
    const keyed = all.exchanges.filter((each) => endpointOf(each) !== null && hasValidKey(each, all));
    const refused = keyed.find((each) => hasStatus(each, 401)) ?? answers.find((each) => hasStatus(each, 401, 403));
    if (refused !== undefined)
      return breach(`the valid key ${show(refused.key)} is let in`, outcomeOf(refused), refused);
    return keyed.some(isSuccess) ? holds() : unproven("no request with a valid key succeeded");
  }),
  check("AUTH-2", both, (evidence) => {
    const judged = judgeFirst("401", evidence, "no key");
    return "kind" in judged ? judged : holds();
  }),
  check("AUTH-3", both, judgeWrongKey),
  check(
    "AUTH-4",
    { ...both, expired: expiredAsked },
    ({ expired, ...rest }) => judgeWhereClosed("401 with the code `EXPIRED_API_KEY`", expired, rest),
    alsoEverywhere,
  ),
  check("AUTH-5", both, (evidence) => judgeNearMiss("401, as for any wrong key", evidence, ...kindsOf("AUTH-5"))),
  check("AUTH-6", both, (evidence) =>
    judgeNearMiss("only a key after `Bearer` lets in", evidence, ...kindsOf("AUTH-6")),
  ),
  observe("AUTH-7", strangersAsked, (strangers) => {
    const { lowerCase } = strangers;
    const wrong = at(ofKinds(strangers, "a wrong key"), "health");
    if (lowerCase === null || wrong === undefined || !hasStatus(wrong, 401))
      return unproven("a wrong key on health did not get the 401 against which to tell it");
    return observed(isSuccess(lowerCase) ? "`bearer` is accepted" : `\`bearer\` answers ${outcomeOf(lowerCase)}`);
  }),
  check("AUTH-8", onEveryEndpoint, (evidence) => judgeUniform(evidence, "a wrong key"), {
    ...alsoEverywhere,
    as: "wrong",
  }),
  check("AUTH-8", onEveryEndpoint, (evidence) => judgeUniform(evidence, "no key"), {
    ...alsoEverywhere,
    as: "missing",
  }),
  observe("AUTH-9", strangersAsked, (strangers) => {
    const refused = ofKinds(strangers, "no key").filter((each) => isRefused(each) && errorOf(each.exchange) !== null);
    const codes = new Set(refused.map(({ exchange }) => show(codeOf(exchange) ?? undefined)));
    return codes.size > 0
      ? observed(`a missing key has the code ${[...codes].join(" or ")}`)
      : unproven("no missing key met a 401 with an error body");
  }),
  check("AUTH-16", strangersAsked, (strangers) => {
    const { allWrong, keyAndBodyWrong } = strangers;
    const wrong = at(ofKinds(strangers, "a wrong key"), "invoke");
    if (wrong === undefined || !hasStatus(wrong, 401))
      return unproven("a wrong key alone does not get 401 on invoke (AUTH-3, AUTH-8)");
    const isTold = (asked: Exchange | null): asked is Exchange => asked !== null && !isOpen(asked);
    if (isTold(keyAndBodyWrong) && !hasStatus(keyAndBodyWrong, 401))
      return breach("401, although `query` is absent", outcomeOf(keyAndBodyWrong), keyAndBodyWrong);
    if (!isTold(allWrong)) return unproven("the request with every mistake at once met a 429, or no answer");
    if (hasStatus(allWrong, 401)) return follows("key-first");
    if (hasStatus(allWrong, 404)) return follows("agent-first");
    return breach("401, or 404 as the agent does not exist", outcomeOf(allWrong), allWrong);
  }),
  ...signingChecks,
]);
