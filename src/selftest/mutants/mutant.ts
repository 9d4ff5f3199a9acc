import type { Delivery } from "../../evidence/delivery.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { isDelivery, isExchange, type ProbeResults } from "../../run/judge/judge-evidence.ts";
import type { ClauseId } from "../../spec/clauses.ts";
import type { ConfiguredPaths } from "../../spec/endpoints.ts";
import { getOrAdd, memoizeByObject } from "../../base/memoize.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { rateLimitInfoOf, readRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";

/** The evidence of a run against a correct server. Each mutant changes a part of this evidence. */
export interface CleanRun {
  /** Name of the server that gave this evidence. */
  readonly source: string;
  readonly results: ProbeResults;
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
  readonly validKeys: readonly string[];
  readonly paths: ConfiguredPaths;
}

/** Maps ids of exchanges and deliveries to their new versions; `null` removes a delivery. */
export interface Replacement {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly deliveries: ReadonlyMap<string, Delivery | null>;
}

/** A change to recorded messages of a correct server. For example, a field of a response is left out. */
export interface Mutant {
  /**
   * `illegal`: the document forbids the change, so a check must fail. `legal`: no check's outcome is allowed to get
   * worse.
   */
  readonly kind: "illegal" | "legal";
  /** Name of the kind of change, such as "a required field left out". */
  readonly operator: string;
  /** Names the changed messages, such as `invoke 200` or `first deliveries of agent.completed`. */
  readonly place: string;
  readonly subject: string;
  readonly id: string;
  /** Clauses that forbid the change; at least one of these clauses must fail. Empty if the change is legal. */
  readonly expects: readonly ClauseId[];
  readonly make: () => Replacement;
}

export const mutantOf = (
  operator: string,
  where: Pick<Mutant, "place" | "subject" | "id">,
  expects: readonly ClauseId[],
  make: Mutant["make"],
): Mutant => ({ kind: expects.length === 0 ? "legal" : "illegal", operator, ...where, expects, make });

const noReplacements = new Map<string, never>();

export const replacingExchanges = (...exchanges: readonly Exchange[]): Replacement => ({
  exchanges: new Map(exchanges.map((each) => [each.id, each])),
  deliveries: noReplacements,
});

export const replacingDeliveries = (...deliveries: readonly Delivery[]): Replacement => ({
  exchanges: noReplacements,
  deliveries: new Map(deliveries.map((each) => [each.id, each])),
});

export const withoutDelivery = ({ id }: Delivery): Replacement => ({
  exchanges: noReplacements,
  deliveries: new Map([[id, null]]),
});

/** Maps the id of an exchange, delivery or sample to the probes whose evidence contains it. */
export type ProbesByEvidenceId = ReadonlyMap<string, ReadonlySet<string>>;

export function probesByIdOf(results: ProbeResults): ProbesByEvidenceId {
  const holders = new Map<string, Set<string>>();
  for (const [probe, entries] of results)
    for (const { result } of entries)
      if (result.kind === "ran")
        for (const id of idsIn(result.evidence)) getOrAdd(holders, id, () => new Set()).add(probe);
  return holders;
}

type EvidencePart = Exchange | Delivery | Sample;

const isEvidencePart = (value: object): value is EvidencePart =>
  isExchange(value) || isDelivery(value) || isSample(value);

const isSample = (value: object): value is Sample => "resetAfter" in value && "headClockMs" in value;

function idsIn(value: unknown): Iterable<string> {
  if (typeof value !== "object" || value === null) return [];
  return isEvidencePart(value) ? [value.id] : namesHolding(value).keys();
}

const namesHolding = memoizeByObject((holder: object): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>();
  for (const [name, inner] of Object.entries(holder))
    for (const id of idsIn(inner)) getOrAdd(found, id, () => []).push(name);
  return found;
});

/** Returns probe results with replaced parts. Does not copy unchanged objects, so that caches still find them. */
export const replaceEvidence = (
  results: ProbeResults,
  probes: ReadonlySet<string>,
  replacement: Replacement,
): ProbeResults => mapEvidence(results, probes, (evidence) => replaceIn(evidence, replacement));

/** Returns probe results in which `change` has replaced the evidence of these probes. */
export function mapEvidence(
  results: ProbeResults,
  probes: ReadonlySet<string>,
  change: (evidence: unknown) => unknown,
): ProbeResults {
  const changed = new Map(results);
  for (const [probe, entries] of results)
    if (probes.has(probe))
      changed.set(
        probe,
        entries.map((entry) =>
          entry.result.kind === "ran"
            ? { ...entry, result: { ...entry.result, evidence: change(entry.result.evidence) } }
            : entry,
        ),
      );
  return changed;
}

function replaceIn(value: unknown, replacement: Replacement): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isEvidencePart(value)) return replacementOf(value, replacement);
  const changes = changesIn(value, replacement);
  if (changes.length === 0) return value;
  if (!Array.isArray(value))
    return { ...value, ...Object.fromEntries(changes.map(({ name, before, after }) => [name, after ?? before])) };
  const items: unknown[] = [...value];
  // Works from the end of the array, because a removal shifts the later items.
  for (const { name, after } of changes.toSorted((one, other) => Number(other.name) - Number(one.name)))
    items.splice(Number(name), 1, ...(after === null ? [] : [after]));
  return items;
}

interface PartChange {
  readonly name: string;
  readonly before: unknown;
  /** The value that replaces `before`. `null` removes an item of an array, but leaves a property unchanged. */
  readonly after: unknown;
}

function changesIn(holder: object, replacement: Replacement): PartChange[] {
  const holding = namesHolding(holder);
  const ids = [...keysInBoth(replacement.exchanges, holding), ...keysInBoth(replacement.deliveries, holding)];
  return [...new Set(ids.flatMap((id) => holding.get(id) ?? []))].flatMap((name): PartChange[] => {
    const before = (holder as Readonly<Record<string, unknown>>)[name];
    const after = replaceIn(before, replacement);
    return after === before ? [] : [{ name, before, after }];
  });
}

const keysInBoth = (one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): string[] =>
  one.size <= other.size ? [...one.keys()].filter((name) => other.has(name)) : keysInBoth(other, one);

function replacementOf(part: EvidencePart, { exchanges, deliveries }: Replacement): EvidencePart | null {
  if (isSample(part)) return updateSample(part, exchanges.get(part.id));
  const other = isExchange(part) ? exchanges.get(part.id) : deliveries.get(part.id);
  return other === undefined ? part : other;
}

function updateSample(sample: Sample, exchange: Exchange | undefined): Sample {
  if (exchange?.answer.kind !== "answered") return sample;
  const { status, headers } = exchange.answer;
  const info = readRateLimitInfo(status, headers, () => bodyJson(exchange));
  const before = rateLimitInfoOf(sample);
  const isSame =
    status === sample.status &&
    Object.entries(info).every(([name, each]) => each === before[name as keyof typeof before]);
  return isSame ? sample : { ...sample, status, ...info };
}
