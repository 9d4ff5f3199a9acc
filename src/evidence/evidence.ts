import { isDeepStrictEqual } from "node:util";

import { z } from "zod";

import { type Delivery, deliverySchema } from "./delivery.ts";
import { type Exchange, exchangeSchema } from "./exchange.ts";
import { isObject } from "../base/json.ts";

const probeIdentity = {
  probe: z.string().describe("Name of the probe."),
  instance: z.string().nullable().describe("Tier that the probe ran for, where it runs once a tier."),
};

const probeSchema = z.union([
  z.strictObject({
    ...probeIdentity,
    evidence: z
      .unknown()
      .describe(
        'What the probe saw. {"$exchange": ID} stands for the exchange of that id, {"$delivery": ID} for the delivery; {"$literal": OBJECT} for an object that has one of these names itself.',
      ),
  }),
  z.strictObject({
    ...probeIdentity,
    skipped: z.object({ reason: z.string(), needs: z.string().nullable().describe("What would enable the probe.") }),
  }),
  z.strictObject({ ...probeIdentity, failed: z.string().describe("How the harness failed at this probe.") }),
]);

/** Schema of `evidence.json`, which holds all that a run recorded. This file is enough to judge the run again. */
export const evidenceSchema = z
  .object({
    format: z.literal("agent-hosting-conformance/evidence/1"),
    exchanges: z.record(z.string(), exchangeSchema).describe("Every recorded exchange, by its id."),
    deliveries: z
      .record(z.string(), deliverySchema)
      // Default for files of earlier versions, which have no deliveries.
      .default({})
      .describe("Every delivery that the receiver got, by its id."),
    probes: z.array(probeSchema),
  })
  .describe(
    "What a run of the conformance harness sent and saw. Keys and secrets are redacted, except the secrets of webhooks that the harness created.",
  );

export type EvidenceFile = z.infer<typeof evidenceSchema>;

/** The result of a probe. `broken`: the probe did not finish, because of an error of the harness itself. */
export type ProbeResult =
  | { readonly kind: "ran"; readonly evidence: unknown }
  | { readonly kind: "skipped"; readonly reason: string; readonly needs: string | null }
  | { readonly kind: "broken"; readonly error: string };

/** A probe with its result. `instance` is the tier that the probe ran for; `null` if the probe runs only once. */
export interface ProbeEvidence {
  readonly probe: string;
  readonly instance: string | null;
  readonly result: ProbeResult;
}

export interface Evidence {
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
  readonly probes: readonly ProbeEvidence[];
}

type PackedProbe = EvidenceFile["probes"][number];
type PlainObject = Readonly<Record<string, unknown>>;

interface StoredById {
  readonly exchanges: Map<string, Exchange>;
  readonly deliveries: Map<string, Delivery>;
}

const byId = <T extends { readonly id: string }>(items: readonly T[]): Map<string, T> =>
  new Map(items.map((each) => [each.id, each]));

/** Converts evidence to the content of `evidence.json`. Does not remove secrets. */
export function toEvidenceFile({ exchanges, deliveries, probes }: Evidence): EvidenceFile {
  const known: StoredById = { exchanges: byId(exchanges), deliveries: byId(deliveries) };
  const packed = probes.map((each) => packProbe(each, known));
  return {
    format: "agent-hosting-conformance/evidence/1",
    exchanges: Object.fromEntries(known.exchanges) as EvidenceFile["exchanges"],
    deliveries: Object.fromEntries(known.deliveries) as EvidenceFile["deliveries"],
    probes: packed,
  };
}

function packProbe({ probe, instance, result }: ProbeEvidence, known: StoredById): PackedProbe {
  switch (result.kind) {
    case "ran":
      return { probe, instance, evidence: pack(result.evidence, known) };
    case "skipped":
      return { probe, instance, skipped: { reason: result.reason, needs: result.needs } };
    case "broken":
      return { probe, instance, failed: result.error };
  }
}

function pack(value: unknown, known: StoredById): unknown {
  if (Array.isArray(value)) return mapItems(value, (each) => pack(each, known));
  if (!isObject(value)) return value;
  const id = String(value["id"]);
  const [exchange, delivery]: readonly unknown[] = [known.exchanges.get(id), known.deliveries.get(id)];
  if (exchange === value || (isExchange(value) && storedOrAdded(value, known.exchanges))) return { $exchange: id };
  if (delivery === value || (isDelivery(value) && storedOrAdded(value, known.deliveries))) return { $delivery: id };
  const packed = mapValues(value, (each) => pack(each, known));
  return looksLikeReference(packed) ? { $literal: packed } : packed;
}

function storedOrAdded<T extends { readonly id: string }>(value: T, known: Map<string, T>): boolean {
  const same = known.get(value.id);
  if (same === undefined) known.set(value.id, value);
  return same === undefined || isDeepStrictEqual(same, value);
}

/**
 * Converts the content of `evidence.json` back to evidence.
 *
 * @throws {Error} if the file refers to an exchange or a delivery that it does not contain
 */
export function fromEvidenceFile(file: EvidenceFile): Evidence {
  const known: StoredById = {
    exchanges: new Map(Object.entries(file.exchanges)),
    deliveries: new Map(Object.entries(file.deliveries)),
  };
  return {
    exchanges: [...known.exchanges.values()],
    deliveries: [...known.deliveries.values()],
    probes: file.probes.map((each) => unpackProbe(each, known)),
  };
}

function unpackProbe(packed: PackedProbe, known: StoredById): ProbeEvidence {
  const { probe, instance } = packed;
  if ("skipped" in packed) return { probe, instance, result: { kind: "skipped", ...packed.skipped } };
  if ("failed" in packed) return { probe, instance, result: { kind: "broken", error: packed.failed } };
  return { probe, instance, result: { kind: "ran", evidence: unpack(packed.evidence, known) } };
}

function unpack(value: unknown, known: StoredById): unknown {
  const within = (each: unknown): unknown => (isObject(each) || Array.isArray(each) ? unpack(each, known) : each);
  if (Array.isArray(value)) return mapItems(value, within);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, "$literal") && isObject(value["$literal"])) return mapValues(value["$literal"], within);
  if (Object.hasOwn(value, "$exchange")) return storedById("exchange", value["$exchange"], known.exchanges);
  if (Object.hasOwn(value, "$delivery")) return storedById("delivery", value["$delivery"], known.deliveries);
  return mapValues(value, within);
}

function storedById<T>(kind: string, id: unknown, known: ReadonlyMap<string, T>): T {
  const stored = known.get(String(id));
  if (stored !== undefined) return stored;
  throw new Error(`evidence.json refers to the ${kind} ${JSON.stringify(id)}, which it does not hold.`);
}

/**
 * Whether an object has a field that `evidence.json` uses for references, such as `$exchange`. `{"$literal": …}` must
 * wrap the object in the file. Otherwise, {@link unpack} would take the object for a reference.
 */
const looksLikeReference = (value: PlainObject): boolean =>
  ["$exchange", "$delivery", "$literal"].some((name) => Object.hasOwn(value, name));

const isExchange = (value: PlainObject): value is PlainObject & Exchange =>
  "request" in value && "answer" in value && exchangeSchema.safeParse(value).success;

const isDelivery = (value: PlainObject): value is PlainObject & Delivery =>
  "request" in value && "reply" in value && deliverySchema.safeParse(value).success;

function mapItems(items: readonly unknown[], map: (value: unknown) => unknown): readonly unknown[] {
  const mapped = items.map(map);
  return mapped.every((each, at) => each === items[at]) ? items : mapped;
}

/** Maps an object's values. Returns the same object if no value changes, which saves thousands of copies. */
function mapValues(object: PlainObject, map: (value: unknown) => unknown): PlainObject {
  const changed = new Map<string, unknown>();
  for (const key of Object.keys(object)) {
    const mapped = map(object[key]);
    if (mapped !== object[key]) changed.set(key, mapped);
  }
  if (changed.size === 0) return object;
  // The target's JSON may have a key `__proto__`. `fromEntries` keeps it, and an assignment would lose it.
  return Object.fromEntries(Object.keys(object).map((key) => [key, changed.has(key) ? changed.get(key) : object[key]]));
}
