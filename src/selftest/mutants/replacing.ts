import { memoizeByObject } from "../../base/memoize.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { readRateLimitInfo, rateLimitInfoOf } from "../../rules/limits/rate-limit-info.ts";
import { isDelivery, isExchange, type ProbeResults } from "../../run/judge/judge-evidence.ts";
import type { Replacement } from "./mutant.ts";

/** For each exchange, delivery or sample, by its id: the names of the probes whose evidence contains it. */
export type ProbesByEvidenceId = ReadonlyMap<string, ReadonlySet<string>>;

export function probesByIdOf(results: ProbeResults): ProbesByEvidenceId {
  const holders = new Map<string, Set<string>>();
  for (const [probe, entries] of results)
    for (const { result } of entries)
      if (result.kind === "ran")
        for (const id of idsIn(result.evidence)) {
          const known = holders.get(id);
          if (known === undefined) holders.set(id, new Set([probe]));
          else known.add(probe);
        }
  return holders;
}

/** A part of the evidence that a mutant can replace. */
type Part = Exchange | Delivery | Sample;

const isPart = (value: object): value is Part => isExchange(value) || isDelivery(value) || isSample(value);

const isSample = (value: object): value is Sample => "resetAfter" in value && "headClockMs" in value;

function idsIn(value: unknown): Iterable<string> {
  if (typeof value !== "object" || value === null) return [];
  return isPart(value) ? [value.id] : namesHolding(value).keys();
}

/**
 * Lists in which members of an object (or items of an array) each part is, by the id of the part. Cached, because
 * thousands of mutants replace parts of the same run.
 */
const namesHolding = memoizeByObject((holder: object): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>();
  for (const [name, inner] of Object.entries(holder))
    for (const id of idsIn(inner)) {
      const known = found.get(id);
      if (known === undefined) found.set(id, [name]);
      else known.push(name);
    }
  return found;
});

/** Returns the evidence with some parts replaced. Objects in which nothing changes stay the same objects. */
export function replaceEvidence(
  results: ProbeResults,
  probes: ReadonlySet<string>,
  replacement: Replacement,
): ProbeResults {
  const changed = new Map(results);
  for (const probe of probes) {
    const entries = results.get(probe) ?? [];
    changed.set(
      probe,
      entries.map((entry) =>
        entry.result.kind === "ran"
          ? { ...entry, result: { ...entry.result, evidence: replacedIn(entry.result.evidence, replacement) } }
          : entry,
      ),
    );
  }
  return changed;
}

function replacedIn(value: unknown, replacement: Replacement): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isPart(value)) return otherPart(value, replacement);
  const changes = changesIn(value, replacement);
  if (changes.length === 0) return value;
  if (!Array.isArray(value))
    return { ...value, ...Object.fromEntries(changes.map(({ name, before, after }) => [name, after ?? before])) };
  const items: unknown[] = [...value];
  // Begins at the end of the array, so that a removal does not shift the items that are still to be replaced.
  for (const { name, after } of changes.toSorted((one, other) => Number(other.name) - Number(one.name)))
    items.splice(Number(name), 1, ...(after === null ? [] : [after]));
  return items;
}

interface Change {
  readonly name: string;
  readonly before: unknown;
  /** The new part; `null` removes the part. */
  readonly after: unknown;
}

function changesIn(holder: object, replacement: Replacement): Change[] {
  const holding = namesHolding(holder);
  const ids = [...inBoth(replacement.exchanges, holding), ...inBoth(replacement.deliveries, holding)];
  return [...new Set(ids.flatMap((id) => holding.get(id) ?? []))].flatMap((name): Change[] => {
    const before = (holder as Readonly<Record<string, unknown>>)[name];
    const after = replacedIn(before, replacement);
    return after === before ? [] : [{ name, before, after }];
  });
}

/** Returns the keys that are in both maps. Iterates over the smaller map. */
const inBoth = (one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): string[] =>
  one.size <= other.size ? [...one.keys()].filter((name) => other.has(name)) : inBoth(other, one);

function otherPart(part: Part, { exchanges, deliveries }: Replacement): Part | null {
  if (isSample(part)) return readSampleAgain(part, exchanges.get(part.id));
  const other = isExchange(part) ? exchanges.get(part.id) : deliveries.get(part.id);
  return other === undefined ? part : other;
}

/** Updates the rate-limit values of a sample from the exchange that replaces the exchange of the sample. */
function readSampleAgain(sample: Sample, exchange: Exchange | undefined): Sample {
  if (exchange?.answer.kind !== "answered") return sample;
  const { status, headers } = exchange.answer;
  const info = readRateLimitInfo(status, headers, () => bodyJson(exchange));
  const before = rateLimitInfoOf(sample);
  const isSame =
    status === sample.status &&
    Object.entries(info).every(([name, each]) => each === before[name as keyof typeof before]);
  return isSame ? sample : { ...sample, status, ...info };
}
