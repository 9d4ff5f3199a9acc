import { sumOf } from "../../base/numbers.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { growthOf, usageCountIn } from "../../rules/limits/usage-report.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { breach, type Finding, holds, type Observation, observed, unproven } from "../../run/judge/finding.ts";
import type { AllSamples, KeySamples } from "../headers/probes.ts";
import { type AllExchanges, byEndpoint, endpointOf } from "../shared/all-exchanges.ts";
import { isSuccess } from "../shared/response.ts";
import { fallWithin } from "./ledger.ts";

/** Two reads of a usage within one window of the headers. */
interface Interval {
  readonly before: Exchange;
  readonly after: Exchange;
  /** Fall of `Remaining`. */
  readonly fell: number;
  readonly key: KeySamples;
}

interface UsageInterval extends Interval {
  /** How many intervals must agree before it is a breach. A single one may just show usage that is updated late. */
  readonly grown: number;
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
  const intervals = intervalsOf("usage", samples, all).flatMap((each): UsageInterval[] => {
    const grown = growthBetween(each.before, each.after);
    return grown === null ? [] : [{ ...each, grown }];
  });
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

/** Observes which numbers of key usage count the requests that `Remaining` counts. */
export function observeKeyUsage(samples: AllSamples, all: AllExchanges): Observation {
  const intervals = intervalsOf("keyUsage", samples, all).filter(({ fell }) => fell > 0);
  const [first] = intervals;
  if (first === undefined || intervals.length < minAgreeing)
    return unproven("key usage was not read several times within a window");
  const counts = [...numbersIn(bodyJson(first.before)).keys()].filter((path) =>
    intervals.every(({ before, after, fell }) => Math.abs(growthAt(path, before, after)) === fell),
  );
  return observed(
    counts.length === 0
      ? "no number of key usage changes as `Remaining` does"
      : `these numbers change with each request that \`Remaining\` counts: ${counts.join(", ")}`,
  );
}

const growthAt = (path: string, before: Exchange, after: Exchange): number => {
  const [from, to] = [before, after].map((each) => numbersIn(bodyJson(each)).get(path));
  return (to ?? NaN) - (from ?? NaN);
};

/** The numbers of a JSON value, by path. */
const numbersIn = (value: unknown, path = ""): ReadonlyMap<string, number> => {
  if (typeof value === "number") return new Map([[path, value]]);
  if (typeof value !== "object" || value === null) return new Map();
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => [...numbersIn(inner, path === "" ? name : `${path}.${name}`)]),
  );
};

/** The intervals between consecutive reads of an endpoint, for each key. */
function intervalsOf(
  endpoint: "usage" | "keyUsage",
  { keys, keylessMs }: AllSamples,
  all: AllExchanges,
): readonly Interval[] {
  const reads = Map.groupBy((byEndpoint(all).get(endpoint) ?? []).filter(isSuccess), ({ key }) => key);
  return keys.flatMap((key) => {
    const samples = new Map(key.samples.map((each) => [each.id, each]));
    const alone = (reads.get(key.key) ?? [])
      .flatMap((exchange) => {
        const sample = samples.get(exchange.id);
        return sample === undefined || isOverlapped(sample, key.samples) ? [] : [{ exchange, sample }];
      })
      .toSorted((one, other) => one.sample.sentMs - other.sample.sentMs);
    return alone.slice(1).flatMap((after, index): Interval[] => {
      const before = alone[index] ?? after;
      const fell = fallWithin(before.sample, after.sample, keylessMs);
      return fell === null ? [] : [{ before: before.exchange, after: after.exchange, fell, key }];
    });
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
