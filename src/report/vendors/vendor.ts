import type { ReportDocument } from "../model/report.ts";

/** The reports of one vendor, or the reason why there are none. Secrets are already redacted. */
export type Vendor =
  | {
      readonly kind: "judged";
      /** Name of the vendor in the vendors file. */
      readonly name: string;
      readonly document: ReportDocument;
      /** The load report; `null` if no load was sent. */
      readonly load: ReportDocument | null;
      /** Whether the report is from an earlier run, so that nothing was sent now. */
      readonly isKept: boolean;
      /** Sentences about this vendor, such as why no load was sent. */
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "unjudged";
      readonly name: string;
      /** Base URL of the vendor; `null` if it is not known. */
      readonly baseUrl: string | null;
      /** One sentence on why the vendor was not judged. */
      readonly reason: string;
    };

export type VendorWithReport = Extract<Vendor, { kind: "judged" }>;

/** Applies `map` to each judged vendor, in order. The result has `null` for a vendor that was not judged. */
export const mapJudged = <T>(vendors: readonly Vendor[], map: (vendor: VendorWithReport) => T): (T | null)[] =>
  vendors.map((vendor) => (vendor.kind === "judged" ? map(vendor) : null));
