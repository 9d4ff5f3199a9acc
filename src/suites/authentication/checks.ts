import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { check, observe, suite } from "../../run/check.ts";
import { breach, type Finding, follows, holds, observed, unproven } from "../../run/finding.ts";
import { codeOf, errorOf } from "../answers/error-body.ts";
import { invoked } from "../invoke/probes.ts";
import {
  type Endpoint,
  endpointOf,
  endpoints,
  type Everything,
  everything,
  hasValidKey,
  provenEndpoints,
} from "../answers/recorded.ts";
import { hasStatus, isSuccess, outcomeOf, show } from "../answers/shape.ts";
import { signingChecks } from "./signing.ts";
import { type AskedByEndpoint, type Strangers, strangersAsked } from "./strangers.ts";
import { elsewhereChecks } from "./strangers-elsewhere.ts";
import { streamed } from "../stream/probes.ts";
import { everyKeyUsed, expiredAsked } from "./probes.ts";

/** What can be said of a clause that has no readings. */
type PlainFinding = Finding<never>;

interface Both {
  readonly strangers: Strangers;
  readonly all: Everything;
}

const both = { strangers: strangersAsked, all: everything } as const;

/** With an invoke and a stream by a valid key, so that every endpoint has its positive control. */
export const onEveryEndpoint = { ...both, invoked, streamed } as const;

interface EndpointAnswer {
  readonly endpoint: Endpoint;
  readonly exchange: Exchange;
}

/** Requests of one kind to the endpoints that let a valid key in; elsewhere a refusal proves nothing. */
const judged = (asked: AskedByEndpoint, all: Everything): EndpointAnswer[] => {
  const proven = provenEndpoints(all);
  return outcomes(asked).filter(({ endpoint }) => proven.has(endpoint));
};

const outcomes = (asked: AskedByEndpoint): EndpointAnswer[] =>
  endpoints.flatMap((endpoint) => {
    const exchange = asked[endpoint];
    return exchange === undefined || exchange.answer.kind === "unanswered" ? [] : [{ endpoint, exchange }];
  });

/** A 429 is legal where many wrong keys came from one address, and leaves open what would have come. */
const isLimited = ({ exchange }: EndpointAnswer): boolean => hasStatus(exchange, 429);
const isRefused = ({ exchange }: EndpointAnswer): boolean => hasStatus(exchange, 401);

const nothingProven = (asked: AskedByEndpoint): PlainFinding =>
  outcomes(asked).some(isLimited)
    ? unproven("requests without a valid key met a 429 before any other answer", "an address that is not limited")
    : unproven("no endpoint let a valid key in, so a refusal proves nothing");

/** A key that comes close to the valid one is refused wherever a wrong key is. */
function judgeNearMiss(
  near: AskedByEndpoint,
  { strangers, all }: Both,
  isRight: (exchange: Exchange) => boolean,
): PlainFinding {
  const compared = judged(near, all).filter(({ endpoint }) => {
    const wrong = strangers.wrong[endpoint];
    return wrong !== undefined && hasStatus(wrong, 401);
  });
  const bad = compared.find((each) => !isLimited(each) && !isRight(each.exchange));
  if (bad !== undefined) return breach(`401 on ${bad.endpoint}`, outcomeOf(bad.exchange), bad.exchange);
  return compared.some((each) => !isLimited(each)) ? holds() : nothingProven(near);
}

/** The first endpoint on which such a request was judged: what it shows there is AUTH-2's or AUTH-3's, elsewhere AUTH-8's. */
const firstJudged = (asked: AskedByEndpoint, all: Everything): EndpointAnswer | undefined =>
  judged(asked, all).find((each) => !isLimited(each));

function judgeEveryEndpoint(
  asked: AskedByEndpoint,
  all: Everything,
  isBroken: (outcome: EndpointAnswer) => boolean,
): PlainFinding {
  const bad = outcomes(asked).find(isBroken);
  if (bad !== undefined) return breach(`401 on ${bad.endpoint}`, outcomeOf(bad.exchange), bad.exchange);
  const shown = new Set(judged(asked, all).flatMap((each) => (isLimited(each) ? [] : [each.endpoint])));
  const open = endpoints.filter((endpoint) => !shown.has(endpoint));
  if (open.length === 0) return holds();
  return unproven(
    `not proven on ${open.join(", ")}: no request with a valid key succeeded there, or a 429 came first`,
    open.includes("stream") ? "`agents.streaming` in the target file" : null,
  );
}

/** 401 on every endpoint, as on the first one; where the first has none, this adds nothing to its breach. */
function judgeUniform(asked: AskedByEndpoint, all: Everything, what: string): PlainFinding {
  const first = firstJudged(asked, all);
  if (first === undefined || !isRefused(first)) return unproven(`${what} does not meet a 401 at all (AUTH-2, AUTH-3)`);
  const proven = provenEndpoints(all);
  return judgeEveryEndpoint(
    asked,
    all,
    (each) => isSuccess(each.exchange) || (proven.has(each.endpoint) && !isRefused(each) && !isLimited(each)),
  );
}

/** REQ-2 is judged on the same evidence; it stands with the common request rules. */
export const judgeKeyRequired = ({ strangers, all }: Both): PlainFinding =>
  judgeEveryEndpoint(strangers.missing, all, ({ exchange }) => isSuccess(exchange));

function codeFinding(refused: readonly Exchange[], code: string): PlainFinding {
  const readable = refused.filter((each) => codeOf(each) !== null);
  const bad = readable.find((each) => codeOf(each) !== code);
  if (bad !== undefined) return breach(`401 with the code \`${code}\``, `401 with the code ${show(codeOf(bad))}`, bad);
  return readable.length > 0 ? holds() : unproven("the 401 has no error code that can be read (ERR-2 to ERR-5)");
}

export const authentication = suite("Authentication", [
  check("AUTH-1", { all: everything, everyKeyUsed }, ({ all, everyKeyUsed: { answers } }) => {
    const keyed = all.exchanges.filter((each) => endpointOf(each) !== null && hasValidKey(each, all));
    const refused = keyed.find((each) => hasStatus(each, 401)) ?? answers.find((each) => hasStatus(each, 401, 403));
    if (refused !== undefined)
      return breach(`the valid key ${show(refused.key)} is let in`, outcomeOf(refused), refused);
    return keyed.some(isSuccess) ? holds() : unproven("no request with a valid key succeeded");
  }),
  check("AUTH-2", both, ({ strangers, all }) => {
    const first = firstJudged(strangers.missing, all);
    if (first === undefined) return nothingProven(strangers.missing);
    return isRefused(first) ? holds() : breach(`401 on ${first.endpoint}`, outcomeOf(first.exchange), first.exchange);
  }),
  check("AUTH-3", both, ({ strangers, all }) => {
    const first = firstJudged(strangers.wrong, all);
    if (first === undefined) return nothingProven(strangers.wrong);
    if (!isRefused(first))
      return breach(`401 \`INVALID_API_KEY\` on ${first.endpoint}`, outcomeOf(first.exchange), first.exchange);
    const refused = judged(strangers.wrong, all).filter(isRefused);
    return codeFinding(
      refused.map(({ exchange }) => exchange),
      "INVALID_API_KEY",
    );
  }),
  check("AUTH-4", expiredAsked, ({ asked }) => {
    if (asked.answer.kind === "unanswered" || hasStatus(asked, 429))
      return unproven(`the expired key met no verdict (${outcomeOf(asked)})`);
    return hasStatus(asked, 401)
      ? codeFinding([asked], "EXPIRED_API_KEY")
      : breach("401 with the code `EXPIRED_API_KEY`", outcomeOf(asked), asked);
  }),
  check("AUTH-5", both, (evidence) =>
    judgeNearMiss(evidence.strangers.lastCharacter, evidence, (each) => hasStatus(each, 401)),
  ),
  check("AUTH-6", both, (evidence) =>
    judgeNearMiss(evidence.strangers.otherScheme, evidence, (each) => !isSuccess(each)),
  ),
  observe("AUTH-7", strangersAsked, ({ lowerCase, wrong }) => {
    if (lowerCase === null || wrong.health === undefined || !hasStatus(wrong.health, 401))
      return unproven("a wrong key on health did not get the 401 against which to tell it");
    return observed(isSuccess(lowerCase) ? "`bearer` is accepted" : `\`bearer\` answers ${outcomeOf(lowerCase)}`);
  }),
  check("AUTH-8", onEveryEndpoint, ({ strangers, all }) => judgeUniform(strangers.wrong, all, "a wrong key"), {
    as: "wrong",
  }),
  check("AUTH-8", onEveryEndpoint, ({ strangers, all }) => judgeUniform(strangers.missing, all, "a missing key"), {
    as: "missing",
  }),
  observe("AUTH-9", strangersAsked, ({ missing }) => {
    const refused = outcomes(missing).filter((each) => isRefused(each) && errorOf(each.exchange) !== null);
    const codes = new Set(refused.map(({ exchange }) => show(codeOf(exchange) ?? undefined)));
    return codes.size > 0
      ? observed(`a missing key has the code ${[...codes].join(" or ")}`)
      : unproven("no missing key met a 401 with an error body");
  }),
  check("AUTH-16", strangersAsked, ({ allWrong, keyAndBodyWrong, wrong }) => {
    if (wrong.invoke === undefined || statusOf(wrong.invoke) !== 401)
      return unproven("a wrong key alone does not get 401 on invoke (AUTH-3, AUTH-8)");
    const isTold = (asked: Exchange | null): asked is Exchange =>
      asked !== null && asked.answer.kind !== "unanswered" && !hasStatus(asked, 429);
    if (isTold(keyAndBodyWrong) && !hasStatus(keyAndBodyWrong, 401))
      return breach("401, although `query` is absent", outcomeOf(keyAndBodyWrong), keyAndBodyWrong);
    if (!isTold(allWrong)) return unproven("the request with every mistake at once met a 429, or no answer");
    if (hasStatus(allWrong, 401)) return follows("key-first");
    if (hasStatus(allWrong, 404)) return follows("agent-first");
    return breach("401, or 404 as the agent does not exist", outcomeOf(allWrong), allWrong);
  }),
  ...elsewhereChecks,
  ...signingChecks,
]);
