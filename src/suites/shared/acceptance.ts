import { bodyText, type Exchange } from "../../evidence/exchange.ts";
import { type Breach, breach, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import { describeStatus, errorOf, hasStatus, outcomeOf } from "./response.ts";
import { formatValue } from "../../base/json.ts";
import { need } from "../../run/skip-reason.ts";
import { type ErrorCodeName, errorCodes } from "../../spec/events-and-errors.ts";

/** Fields of a request body whose acceptance a probe tests, e.g. `session_id`. */
export interface Feature {
  readonly query?: string;
  readonly session_id?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export interface CombinedResult<F extends string> {
  readonly together: Exchange;
  readonly apart: Partial<Readonly<Record<F, Exchange>>>;
}

export function combineFeatures(features: Readonly<Record<string, Feature>>, plain: Feature): Feature {
  return Object.values(features).reduce(mergeFeatures, plain);
}

export type Accepts = (exchange: Exchange) => boolean;

/**
 * Sends one request with all `features`. If the target rejects this request but accepts a plain one, sends each feature
 * alone. A 401 or 429 is not a rejection.
 */
export async function sendCombined<F extends string>(
  features: Readonly<Record<F, Feature>>,
  plain: Feature,
  send: (body: Feature) => Promise<Exchange>,
  accepts: Accepts,
): Promise<CombinedResult<F>> {
  const together = await send(combineFeatures(features, plain));
  if (accepts(together) || together.answer.kind !== "answered" || hasStatus(together, 401, 429))
    return { together, apart: {} };
  if (!accepts(await send(plain))) return { together, apart: {} };
  const apart: Partial<Record<F, Exchange>> = {};
  for (const [name, feature] of Object.entries<Feature>(features) as [F, Feature][])
    apart[name] = await send(mergeFeatures(plain, feature));
  return { together, apart };
}

const mergeFeatures = (one: Feature, other: Feature): Feature => ({
  ...one,
  ...other,
  ...(one.parameters === undefined && other.parameters === undefined
    ? {}
    : { parameters: { ...one.parameters, ...other.parameters } }),
});

export function judgeAccepted<F extends string>(
  { together, apart }: CombinedResult<F>,
  feature: F,
  control: Exchange,
  accepts: Accepts,
): FeatureFinding {
  if (accepts(together)) return holds();
  if (!accepts(control)) return unproven(`a plain request was not accepted either (${describeOutcome(control)})`);
  const alone = apart[feature];
  if (alone === undefined) return inconclusive(together);
  if (accepts(alone)) return holds();
  if (alone.answer.kind !== "answered" || hasStatus(alone, 401, 429)) return inconclusive(alone);
  return breach("accepted, as the plain request is", describeOutcome(alone), alone, control);
}

interface FeaturesTried<F extends string> {
  readonly plain: { readonly exchange: Exchange };
  readonly tried: CombinedResult<F>;
}

/** Returns a function that creates the judge of one feature. `accepts` says whether the endpoint accepted a request. */
export const featureJudge =
  (accepts: Accepts) =>
  <F extends string>(feature: F) =>
  ({ plain, tried }: FeaturesTried<F>) =>
    judgeAccepted(tried, feature, plain.exchange, accepts);

type FeatureFinding = { readonly kind: "holds" } | Breach | Unproven;

const inconclusive = (exchange: Exchange): Unproven =>
  unproven(`the request was neither accepted nor rejected (${describeOutcome(exchange)})`);

/** Judges whether the target accepts all features in one request. Unproven if the target rejects a feature alone. */
export function judgeCombinedFeatures(
  { together, apart }: CombinedResult<string>,
  control: Exchange,
  accepts: Accepts,
): FeatureFinding {
  if (accepts(together)) return holds();
  if (hasStatus(together, 401, 429)) return inconclusive(together);
  if (!accepts(control)) return unproven(`a plain request was not accepted either (${describeOutcome(control)})`);
  const rejected = Object.values(apart).find((each) => each !== undefined && !accepts(each));
  if (rejected !== undefined) return unproven("a parameter is rejected on its own; see the clause of that parameter");
  return breach("accepted, as the plain request is", describeOutcome(together), together, control);
}

function describeOutcome(exchange: Exchange): string {
  const { answer } = exchange;
  const failure = answer.kind === "answered" ? answer.events.find(({ name }) => name === "error") : undefined;
  return failure === undefined
    ? describeStatus(exchange)
    : `${outcomeOf(exchange)}, then an error event: ${failure.data.slice(0, 120)}`;
}

interface ExpectedRejection {
  readonly status: number;
  /** Error code that the response must have. `null`: any code, except a code documented for another status. */
  readonly code: ErrorCodeName | null;
  /** Exchange of the same request without its mistake, e.g. with the `query` that `rejected` lacks. */
  readonly control: Exchange;
  readonly isControlAccepted: boolean;
}

/** Judges the rejection of an invalid request. Unproven after a 429, or if the `control` was not accepted either. */
export function judgeRejection(
  rejected: Exchange,
  { status, code, control, isControlAccepted }: ExpectedRejection,
): { readonly kind: "holds" } | Breach | Unproven {
  if (!isControlAccepted)
    return unproven(`the same request without the mistake was not accepted either (${outcomeOf(control)})`);
  if (hasStatus(rejected, 429)) return unproven("a rate limit rejected the request first (429)");
  const found = errorOf(rejected)?.["code"];
  const isExpectedCode = code === null ? !isOfOtherStatus(found, status) : found === code;
  if (hasStatus(rejected, status) && isExpectedCode) return holds();
  const actual =
    found === undefined ? outcomeOf(rejected) : `${outcomeOf(rejected)} with the code ${formatValue(found)}`;
  const expected =
    code === null ? `${status}, with a code that is not of another status` : `${status} with the code ${code}`;
  return breach(expected, actual, rejected, control);
}

function isOfOtherStatus(code: unknown, status: number): boolean {
  const documented: Readonly<Record<string, { readonly status: unknown }>> = errorCodes;
  return typeof code === "string" && Object.hasOwn(errorCodes, code) && documented[code]?.status !== status;
}

const urlWords = /url|address|https?\b|loopback|private|localhost|\bhost(name)?\b|scheme|reachable/i;

/**
 * Returns `unproven` if a rejection may concern the receiver's URL, e.g. a loopback address; otherwise `null`. With
 * `isPromised` (the target should be able to reach the receiver), the response must mention a URL.
 */
export function rejectedReceiverAddress(rejected: Exchange, isPromised: boolean): Unproven | null {
  if (!hasStatus(rejected, 400, 403, 422)) return null;
  if (isPromised && !urlWords.test(bodyText(rejected) ?? "")) return null;
  return unproven(
    `the target does not accept the receiver's address (${describeStatus(rejected)})`,
    need("receiver that is taken"),
  );
}
