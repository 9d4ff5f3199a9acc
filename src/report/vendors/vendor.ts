import type { ReportDocument } from "../model/report.ts";

/** The reports of one vendor, or why there are none. Secrets are already redacted. */
export type Vendor =
  | {
      readonly kind: "judged";
      /** Name in the vendors file. */
      readonly name: string;
      readonly document: ReportDocument;
      /** The load report; `null` if no load was sent. */
      readonly load: ReportDocument | null;
      /** Whether the report is from an earlier run, and nothing was sent now. */
      readonly isKept: boolean;
      /** Sentences about this vendor, such as why no load was sent. */
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "unjudged";
      readonly name: string;
      /** `null` if the address is not known. */
      readonly baseUrl: string | null;
      /** Why the vendor was not judged, in one sentence. */
      readonly reason: string;
    };

export type VendorWithReport = Extract<Vendor, { kind: "judged" }>;

/** Applies `map` to each judged vendor. The result has `null` for a vendor that was not judged, and keeps the order. */
export const mapJudged = <T>(vendors: readonly Vendor[], map: (vendor: VendorWithReport) => T): (T | null)[] =>
  vendors.map((vendor) => (vendor.kind === "judged" ? map(vendor) : null));
