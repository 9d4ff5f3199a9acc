import { sanitize } from "../../base/sanitize.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Report } from "../model/report.ts";

/**
 * The report with texts in which nothing controls a terminal, in whatever field: a kept report may be somebody else's, with anything for the
 * name of a clause, a tier or a file.
 */
export const sanitizedReport = (report: Report): Report => plain(report) as Report;

type Shown = Pick<Evidence, "exchanges" | "deliveries">;

/** The same for what names an exchange or a delivery; what they carry is made harmless where it is shown. */
export const sanitizedEvidence = ({ exchanges, deliveries }: Shown): Shown => ({
  exchanges: exchanges.map(named),
  deliveries: deliveries.map(named),
});

const named = <T extends { readonly id: string; readonly request: { readonly method: string } }>(each: T): T => ({
  ...each,
  id: sanitize(each.id),
  request: { ...each.request, method: sanitize(each.request.method) },
});

function plain(value: unknown): unknown {
  if (typeof value === "string") return sanitize(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [sanitize(name), plain(each)]));
}
