import type { ReportDocument } from "../model/report.ts";

/** What is known of one vendor: a report, and perhaps one of load; or why there is none. Nothing in it is secret. */
export type Vendor =
  | {
      readonly kind: "judged";
      /** As the vendors file names it. */
      readonly name: string;
      readonly document: ReportDocument;
      /** The report of load sent to it, `null` where none was. */
      readonly load: ReportDocument | null;
      /** Whether the report was kept from an earlier run, and nothing was sent now. */
      readonly isKept: boolean;
      /** What is to be known besides, such as why no load was sent; a sentence each. */
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "unjudged";
      readonly name: string;
      /** `null` where not even the address is known. */
      readonly baseUrl: string | null;
      /** One sentence. */
      readonly reason: string;
    };

export type VendorWithReport = Extract<Vendor, { kind: "judged" }>;

/** One thing of each vendor, in their order; `null` of a vendor that was not judged. */
export const mapJudged = <T>(vendors: readonly Vendor[], of: (vendor: VendorWithReport) => T): (T | null)[] =>
  vendors.map((vendor) => (vendor.kind === "judged" ? of(vendor) : null));
