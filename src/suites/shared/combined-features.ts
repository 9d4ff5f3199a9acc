import type { Exchange } from "../../evidence/exchange.ts";
import { type Breach, breach, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import { describeStatus, hasStatus, outcomeOf } from "./response.ts";

/** Optional fields of a request body, e.g. `session_id`. The server must accept a request that has them. */
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

type Accepts = (exchange: Exchange) => boolean;

/** Sends one request with all `features`. If the target rejects the request, sends each feature alone. */
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

type FeatureFinding = { readonly kind: "holds" } | Breach | Unproven;

const inconclusive = (exchange: Exchange): Unproven =>
  unproven(`the request was neither accepted nor rejected (${describeOutcome(exchange)})`);

/** Judges whether the target accepts all features together, if it accepts each one alone. */
export function judgeCombined(
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
