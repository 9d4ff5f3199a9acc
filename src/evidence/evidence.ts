import { z } from "zod";

import { type Delivery, deliverySchema } from "./delivery.ts";
import { type Exchange, exchangeSchema } from "./exchange.ts";

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

/** Schema of `evidence.json`, which holds all that a run recorded. The run can be judged again from it. */
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
  .describe("What a run of the conformance harness sent and saw. Keys and secrets are redacted.");

/** The content of `evidence.json`. Each exchange and each delivery occurs once in it. */
export type EvidenceFile = z.infer<typeof evidenceSchema>;

/** The result of a probe. `broken`: the harness failed, and not the target. */
export type ProbeResult =
  | { readonly kind: "ran"; readonly evidence: unknown }
  | { readonly kind: "skipped"; readonly reason: string; readonly needs: string | null }
  | { readonly kind: "broken"; readonly error: string };

/** The result of a probe for one instance, such as a tier. `instance` is `null` for a probe that runs once. */
export interface ProbeEvidence {
  readonly probe: string;
  readonly instance: string | null;
  readonly result: ProbeResult;
}

/** Everything that a run recorded. */
export interface Evidence {
  readonly exchanges: readonly Exchange[];
  readonly deliveries: readonly Delivery[];
  readonly probes: readonly ProbeEvidence[];
}
