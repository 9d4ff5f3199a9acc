import { z } from "zod";
import type { ReportDocument } from "../model/report.ts";

/** The reports of one vendor, or the reason why there are none. Secrets are already redacted. */
export type Vendor =
  | {
      readonly kind: "judged";
      readonly name: string;
      readonly document: ReportDocument;
      readonly load: ReportDocument | null;
      /** Whether the report comes from an earlier run. If so, nothing is sent to this vendor. */
      readonly isKept: boolean;
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "unjudged";
      readonly name: string;
      readonly baseUrl: string | null;
      readonly reason: string;
    };

export type VendorWithReport = Extract<Vendor, { kind: "judged" }>;

/** Applies `map` to each judged vendor, in order. The result has `null` for a vendor that was not judged. */
export const mapJudged = <T>(vendors: readonly Vendor[], map: (vendor: VendorWithReport) => T): (T | null)[] =>
  vendors.map((vendor) => (vendor.kind === "judged" ? map(vendor) : null));

const path = z.string().min(1);
const name = z.string().min(1).max(60).describe("Heads the vendor's column; no two are the same.");
const load = path.describe("Folder of a kept load report of the same deployment.").optional();

/** Returns the schema of the vendors file. `inline`: the schema of a target written in the vendors file itself. */
export const vendorsSchemaWith = <T extends z.ZodType>(inline: T) =>
  z
    .strictObject({
      $schema: z.string().optional(),
      vendors: z
        .array(
          z.union(
            [
              z.strictObject({
                name,
                target: z.union([path.describe("A target file."), inline]),
                load,
              }),
              z.strictObject({ name, report: path.describe("Folder of a kept report, or its report.json."), load }),
            ],
            { error: "must have `name`, and either `target` (a file, or what stands in one) or `report`" },
          ),
        )
        .min(1, "at least one vendor is needed")
        .refine(areDistinct, "no two vendors may have the same name"),
    })
    .describe("Deployments that `conformance vendors` shows side by side. Paths are relative to the file.");

const areDistinct = (vendors: readonly { readonly name: string }[]): boolean =>
  new Set(vendors.map((each) => each.name)).size === vendors.length;
