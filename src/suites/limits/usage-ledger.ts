import { sumOf } from "../../base/numbers.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { growthOf, usageCountIn } from "../../rules/limits/usage-report.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import type { AllSamples, KeySamples } from "../headers/probes.ts";
import { type AllExchanges, endpointOf } from "../shared/all-exchanges.ts";
import { isSuccess } from "../shared/response.ts";
import { fallWithin } from "./ledger.ts";

/** Two reads of usage within one window of the headers. */
interface Interval {
  readonly before: Exchange;
  readonly after: Exchange;
  /** Growth of `requests.used`. */
  readonly grown: number;
  /** Fall of `Remaining`. */
  readonly fell: number;
  readonly key: KeySamples;
}

/** How many intervals must agree. They show that usage is not merely behind. */
const minAgreeing = 2;
/** How many requests must be missing in an interval: one alone may be counted a moment later. */
const minMissing = 2;

/**
 * Judges that `requests.used` counts the same requests as `Remaining` between two reads of usage. It does not matter
 * which requests a server counts.
 */
export function judgeUsageGrowth(samples: AllSamples, all: AllExchanges): Finding<never> {
  const reads = readsByKey(all);
  const intervals = samples.keys.flatMap((key) => intervalsOf(key, reads.get(key.key) ?? [], samples.keylessMs));
  const agreeing = intervals.filter(({ grown, fell }) => grown === fell && grown >= minMissing);
  const missing = intervals.filter(({ grown, fell }) => fell - grown >= minMissing);
  if (agreeing.length < minAgreeing || intervals.some(({ grown, fell }) => grown > fell))
    return unproven("`requests.used` and `Remaining` do not grow and fall together, so they cannot be compared");
  const [first] = missing;
  if (first === undefined) return holds();
  const [grown, fell] = [sumOf(missing.map((each) => each.grown)), sumOf(missing.map((each) => each.fell))];
  return breach(
    `\`requests.used\` grows by ${fell}, as \`Remaining\` falls (key ${first.key.key})`,
    `it grows by ${grown}; ${describeRequests(first, all)} between two reads`,
    first.before,
    first.after,
  );
}

const readsByKey = (all: AllExchanges): ReadonlyMap<string | null, readonly Exchange[]> =>
  Map.groupBy(
    all.exchanges.filter((each) => endpointOf(each, all) === "usage" && isSuccess(each)),
    ({ key }) => key,
  );

function intervalsOf(key: KeySamples, reads: readonly Exchange[], keylessMs: readonly number[]): Interval[] {
  const samples = new Map(key.samples.map((each) => [each.id, each]));
  const alone = reads
    .flatMap((exchange) => {
      const sample = samples.get(exchange.id);
      return sample === undefined || isOverlapped(sample, key.samples) ? [] : [{ exchange, sample }];
    })
    .toSorted((one, other) => one.sample.sentMs - other.sample.sentMs);
  return alone.slice(1).flatMap((after, index) => {
    const before = alone[index] ?? after;
    const fell = fallWithin(before.sample, after.sample, keylessMs);
    const grown = growthBetween(before.exchange, after.exchange);
    if (fell === null || grown === null) return [];
    return [{ before: before.exchange, after: after.exchange, grown, fell, key }];
  });
}

const isOverlapped = (sample: Sample, samples: readonly Sample[]): boolean =>
  samples.some((each) => each !== sample && each.sentMs < sample.endMs && each.endMs > sample.sentMs);

/** Growth of `requests.used`; `null` if it was not read twice, or its window has ended. */
function growthBetween(before: Exchange, after: Exchange): number | null {
  const [from, to] = [before, after].map((each) => usageCountIn(bodyJson(each), "requests"));
  if (from === null || to === null || from === undefined || to === undefined) return null;
  const { kind, grown } = growthOf(from, to, { min: 0, max: Infinity });
  return kind === "begun again" ? null : grown;
}

function describeRequests({ before, after, key }: Interval, all: AllExchanges): string {
  const between = all.exchanges.filter(
    (each) => each.key === key.key && each.sentMs >= before.answer.endMs && each.answer.endMs <= after.sentMs,
  );
  const counts = Map.groupBy(between, (each) => endpointOf(each, all) ?? "other paths");
  return [...counts].map(([endpoint, { length }]) => `${length} × ${endpoint}`).join(", ");
}
