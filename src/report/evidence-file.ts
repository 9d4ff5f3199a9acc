import { isDeepStrictEqual } from "node:util";

import type { Exchange } from "../evidence/exchange.ts";
import type { ProbeResult } from "../run/execute.ts";
import { type EvidenceFile, exchangeSchema } from "./evidence-schema.ts";

/** What came of a probe in one instance. */
export interface ProbeEvidence {
  readonly probe: string;
  readonly instance: string | null;
  readonly result: ProbeResult;
}

/** Everything that a run saw. */
export interface Evidence {
  readonly exchanges: readonly Exchange[];
  readonly probes: readonly ProbeEvidence[];
}

type PackedProbe = EvidenceFile["probes"][number];
type PlainObject = Readonly<Record<string, unknown>>;

const isPlainObject = (value: unknown): value is PlainObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Puts evidence into the form of `evidence.json`, in which each exchange stands once. Nothing is redacted here; it is quickest
 * where an exchange that the evidence shows is the very object of the list.
 */
export function packEvidence({ exchanges, probes }: Evidence): EvidenceFile {
  const known = new Map(exchanges.map((exchange) => [exchange.id, exchange]));
  const packed = probes.map((each) => packProbe(each, known));
  return {
    format: "agent-hosting-conformance/evidence/1",
    // What the probes hold was recorded by the harness: the types of the file are those of the record, but for `readonly`.
    exchanges: Object.fromEntries(known) as EvidenceFile["exchanges"],
    probes: packed,
  };
}

function packProbe({ probe, instance, result }: ProbeEvidence, known: Map<string, Exchange>): PackedProbe {
  switch (result.kind) {
    case "ran":
      return { probe, instance, evidence: pack(result.evidence, known) };
    case "skipped":
      return { probe, instance, skipped: { reason: result.reason, needs: result.needs } };
    case "broken":
      return { probe, instance, failed: result.error };
  }
}

/** @param known every exchange so far, by id; one that only the evidence holds is added */
function pack(value: unknown, known: Map<string, Exchange>): unknown {
  if (Array.isArray(value)) return value.map((each) => pack(each, known));
  if (!isPlainObject(value)) return value;
  const sameId: unknown = known.get(String(value["id"]));
  if (sameId === value) return { $exchange: value["id"] };
  if (isExchange(value)) {
    const same = known.get(value.id);
    if (same === undefined) known.set(value.id, value);
    if (same === undefined || isDeepStrictEqual(same, value)) return { $exchange: value.id };
  }
  const packed = mapValues(value, (each) => pack(each, known));
  return isMark(packed) ? { $literal: packed } : packed;
}

/**
 * Takes the form of `evidence.json` apart again: the exact opposite of {@link packEvidence}.
 *
 * @throws {Error} where an exchange is named that is not there.
 */
export function unpackEvidence(file: EvidenceFile): Evidence {
  const known = new Map<string, Exchange>(Object.entries(file.exchanges));
  return { exchanges: [...known.values()], probes: file.probes.map((each) => unpackProbe(each, known)) };
}

function unpackProbe(packed: PackedProbe, known: ReadonlyMap<string, Exchange>): ProbeEvidence {
  const { probe, instance } = packed;
  if ("skipped" in packed) return { probe, instance, result: { kind: "skipped", ...packed.skipped } };
  if ("failed" in packed) return { probe, instance, result: { kind: "broken", error: packed.failed } };
  return { probe, instance, result: { kind: "ran", evidence: unpack(packed.evidence, known) } };
}

function unpack(value: unknown, known: ReadonlyMap<string, Exchange>): unknown {
  if (Array.isArray(value)) return value.map((each) => unpack(each, known));
  if (!isPlainObject(value)) return value;
  const within = (object: PlainObject): PlainObject => mapValues(object, (each) => unpack(each, known));
  if (Object.hasOwn(value, "$literal") && isPlainObject(value["$literal"])) return within(value["$literal"]);
  if (!Object.hasOwn(value, "$exchange")) return within(value);
  const found = known.get(String(value["$exchange"]));
  if (found !== undefined) return found;
  throw new Error(`evidence.json names the exchange ${JSON.stringify(value["$exchange"])}, which it does not hold.`);
}

/** An object that would be read as a mark, so it has to be marked itself. */
const isMark = (value: PlainObject): boolean => Object.hasOwn(value, "$exchange") || Object.hasOwn(value, "$literal");

const isExchange = (value: PlainObject): value is PlainObject & Exchange =>
  "request" in value && "answer" in value && exchangeSchema.safeParse(value).success;

/** A target's JSON may have a key like `__proto__`, which an assignment would lose. */
const mapValues = (object: PlainObject, map: (value: unknown) => unknown): PlainObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
