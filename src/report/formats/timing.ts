import type { Exchange } from "../../evidence/exchange.ts";
import type { ReportFinding } from "../model/report.ts";

/**
 * How long the exchanges took that a finding names, in milliseconds; 0 where it names none, or their evidence is not there. Checks share
 * exchanges, so the times of several findings do not add up to the time of the run.
 */
export function findingMs({ evidence = [] }: ReportFinding, exchanges: ReadonlyMap<string, Exchange>): number {
  return evidence.reduce((sum, id) => {
    const exchange = exchanges.get(id);
    return exchange === undefined ? sum : sum + Math.max(0, exchange.answer.endMs - exchange.sentMs);
  }, 0);
}
