import { z } from "zod";

import { parties, requirementSets } from "../../spec/clause.ts";
import { profileNames } from "../../spec/profiles.ts";

const textsSchema = z.array(z.string().min(1)).min(1);
const readings = z.record(z.string(), z.union([z.string(), textsSchema]));

/** Rules that a policy may mark as optional, because their data can be missing, e.g. if no report is given. */
export const optionalRules = ["profiles", "readings", "excessPercent", "subjects", "report"] as const;

const signerSchema = z
  .strictObject({
    keys: z
      .string()
      .min(1)
      .describe("The vendor's list of keys: a file beside the policy, or an https URL.")
      .exactOptional(),
    keyid: z.string().describe("This key alone. Without `keys`, `--keys` must bring it.").exactOptional(),
  })
  .refine(({ keys, keyid }) => keys !== undefined || keyid !== undefined, "needs keys, keyid or both");

/** Schema of a policy file: the rules by which a buyer accepts statements. */
export const policySchema = z
  .strictObject({
    $schema: z.string().exactOptional(),
    signers: z.array(signerSchema).min(1).describe("Accepted signers: one of them must have signed.").exactOptional(),
    unsigned: z.boolean().describe("Whether an unsigned statement is accepted. Default: false.").exactOptional(),
    party: z.enum(parties).describe("The party that was judged. Default: server.").exactOptional(),
    baseUrl: z.string().describe("The deployment's address.").exactOptional(),
    subjects: textsSchema.describe("What was deployed, each as NAME=ALGORITHM:DIGEST.").exactOptional(),
    verdicts: z
      .array(z.enum(["conformant", "partial"]))
      .min(1)
      .describe(
        "Accepted verdicts. Default: conformant. If only allowed exceptions fail, nonconformant counts as partial.",
      )
      .exactOptional(),
    exceptions: z
      .array(
        z.strictObject({
          check: z.string().min(1),
          until: z.iso.date().describe("The last day on which the check may fail, such as 2026-12-31."),
          reason: z.string().min(1),
        }),
      )
      .describe("Checks that may fail.")
      .exactOptional(),
    requirements: z.enum(requirementSets).describe("The requirement set, at least.").exactOptional(),
    maxAgeDays: z.number().positive().describe("Days since the end of the run, at most.").exactOptional(),
    tiers: textsSchema.describe("Tiers whose keys must have been in use.").exactOptional(),
    profiles: z.array(z.enum(profileNames)).min(1).describe("Profiles that must be conformant.").exactOptional(),
    readings: z
      .strictObject({ must: readings.exactOptional(), mustNot: readings.exactOptional() })
      .describe("Readings that the deployment must follow or must not, by clause: one, or a list.")
      .exactOptional(),
    excessPercent: z
      .number()
      .nonnegative()
      .describe("By how much the limits per minute and per hour may be exceeded, in percent of the published number.")
      .exactOptional(),
    report: z.literal(true).describe("The report and its evidence must be given, and match.").exactOptional(),
    optional: z
      .array(z.enum(optionalRules))
      .describe("Rules that do not fail if they cannot be checked.")
      .exactOptional(),
  })
  .refine(({ signers, unsigned }) => signers !== undefined || unsigned === true, "needs signers, or unsigned: true")
  .describe("The rules by which a buyer accepts conformance statements. `conformance verify --policy` reads it.");

export type Policy = z.infer<typeof policySchema>;
