import { sumOf } from "../../base/numbers.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { growthOf, usageCountIn } from "../../rules/limits/usage-report.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { breach, type Finding, holds, type Observation, observed, unproven } from "../../run/judge/finding.ts";
import type { KeySamples, SamplesAndExchanges } from "../headers/probes.ts";
import { type AllExchanges, endpointOf, successesOf } from "../shared/all-exchanges.ts";
import { fallWithin } from "./ledger.ts";

interface ReadInterval {
  readonly before: Exchange;
  readonly after: Exchange;
  readonly fell: number;
  readonly key: KeySamples;
}

/**
 * In at least this many intervals between usage reads, `requests.used` must grow by as much as `Remaining` falls, e.g.
 * by 5. Otherwise, the two numbers possibly do not count the same requests, and the check judges nothing.
 */
const minAgreeing = 2;
/** Minimum growth or shortfall of `requests.used` in a judged interval. A target can count a single request late. */
const minRequests = 2;

/** Judges USE-7: the growth of `requests.used` equals the fall of `Remaining`. Unproven if it grows by more. */
export function judgeUsageGrowth({ samples, all }: SamplesAndExchanges): Finding<never> {
  const intervals = intervalsOf("usage", { samples, all }).flatMap((each) => {
    const grown = growthBetween(each.before, each.after);
    return grown === null ? [] : [{ ...each, grown }];
  });
  const agreeing = intervals.filter(({ grown, fell }) => grown === fell && grown >= minRequests);
  const missing = intervals.filter(({ grown, fell }) => fell - grown >= minRequests);
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

export function observeKeyUsage(evidence: SamplesAndExchanges): Observation {
  const intervals = intervalsOf("keyUsage", evidence).filter(({ fell }) => fell > 0);
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

const numbersIn = (value: unknown, path = ""): ReadonlyMap<string, number> => {
  if (typeof value === "number") return new Map([[path, value]]);
  if (typeof value !== "object" || value === null) return new Map();
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => [...numbersIn(inner, path === "" ? name : `${path}.${name}`)]),
  );
};

function intervalsOf(endpoint: "usage" | "keyUsage", { samples, all }: SamplesAndExchanges): readonly ReadInterval[] {
  const reads = Map.groupBy(successesOf(all, endpoint), ({ key }) => key);
  return samples.keys.flatMap((key) => {
    const sampleOfId = new Map(key.samples.map((each) => [each.id, each]));
    const alone = (reads.get(key.key) ?? [])
      .flatMap((exchange) => {
        const sample = sampleOfId.get(exchange.id);
        return sample === undefined || isOverlapped(sample, key.samples) ? [] : [{ exchange, sample }];
      })
      .toSorted((one, other) => one.sample.sentMs - other.sample.sentMs);
    return alone.slice(1).flatMap((after, index): ReadInterval[] => {
      const before = alone[index] ?? after;
      const fell = fallWithin(before.sample, after.sample, samples);
      return fell === null ? [] : [{ before: before.exchange, after: after.exchange, fell, key }];
    });
  });
}

const isOverlapped = (sample: Sample, samples: readonly Sample[]): boolean =>
  samples.some((each) => each !== sample && each.sentMs < sample.endMs && each.endMs > sample.sentMs);

function growthBetween(before: Exchange, after: Exchange): number | null {
  const [from, to] = [before, after].map((each) => usageCountIn(bodyJson(each), "requests"));
  if (from === null || to === null || from === undefined || to === undefined) return null;
  const { kind, grown } = growthOf(from, to, { min: 0, max: Infinity });
  return kind === "begun again" ? null : grown;
}

function describeRequests({ before, after, key }: ReadInterval, all: AllExchanges): string {
  const between = all.exchanges.filter(
    (each) => each.key === key.key && each.sentMs >= before.answer.endMs && each.answer.endMs <= after.sentMs,
  );
  const counts = Map.groupBy(between, (each) => endpointOf(each, all) ?? "other paths");
  return [...counts].map(([endpoint, { length }]) => `${length} × ${endpoint}`).join(", ");
}
