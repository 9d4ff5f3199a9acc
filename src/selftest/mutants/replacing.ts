import { isObject } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../limits/sample.ts";
import { readShown, shownOf } from "../../limits/shown.ts";
import { isDelivery, isExchange, type ProbeResults } from "../../run/judge.ts";
import type { Replacement } from "./mutant.ts";

/** Names of the probes whose evidence holds an exchange, a delivery, or what a limiter showed in it, by its id. */
export type Holders = ReadonlyMap<string, ReadonlySet<string>>;

export function holdersIn(results: ProbeResults): Holders {
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

function idsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (isExchange(value) || isDelivery(value) || isSample(value)) return [value.id];
  return Object.values(value).flatMap(idsIn);
}

const isSample = (value: object): value is Sample => "resetAfter" in value && "headClockMs" in value;

/** The evidence with some of it replaced; what is not touched is the very same object. */
export function replaced(results: ProbeResults, probes: ReadonlySet<string>, replacement: Replacement): ProbeResults {
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
  if (isExchange(value)) return replacement.exchanges.get(value.id) ?? value;
  if (isDelivery(value)) return replacement.deliveries.get(value.id) ?? value;
  if (isSample(value)) return shownAnew(value, replacement.exchanges.get(value.id));
  if (Array.isArray(value)) {
    const kept = value.filter((each) => !isTakenOut(each, replacement));
    const items = kept.map((each: unknown) => replacedIn(each, replacement));
    return items.length === value.length && items.every((each, at) => each === value[at]) ? value : items;
  }
  const entries = Object.entries(value).map(([name, inner]) => [name, inner, replacedIn(inner, replacement)] as const);
  return entries.every(([, before, after]) => before === after)
    ? value
    : Object.fromEntries(entries.map(([name, , after]) => [name, after]));
}

const isTakenOut = (value: unknown, { deliveries }: Replacement): boolean =>
  isObject(value) && isDelivery(value) && deliveries.get(value.id) === null;

/** What the limiter showed in the answer that stands in the place of another. */
function shownAnew(sample: Sample, exchange: Exchange | undefined): Sample {
  if (exchange?.answer.kind !== "answered") return sample;
  const { status, headers } = exchange.answer;
  const shown = readShown(status, headers, () => bodyJson(exchange));
  const before = shownOf(sample);
  const isSame =
    status === sample.status &&
    Object.entries(shown).every(([name, each]) => each === before[name as keyof typeof before]);
  return isSame ? sample : { ...sample, status, ...shown };
}
