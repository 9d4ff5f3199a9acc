import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ReportDocument, Report, ReportedConnection, ReportFinding } from "../model/report.ts";
import { shellVariableOfKey } from "../reproduce/key-variable.ts";
import { anchorsOf } from "./anchors.ts";
import type { LoadEvidence } from "../../load/load-evidence.ts";

/** What the parts of a page are made from. */
export interface View {
  readonly report: Report;
  /** By id; empty where the report came without its evidence. */
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly deliveries: ReadonlyMap<string, Delivery>;
  readonly load: ReadonlyMap<string, LoadEvidence>;
  /** Shell variable that stands for a redacted key in commands. */
  readonly variableOf: (keyName: string) => string | undefined;
  readonly evidenceFile: string;
  /** How the target was reached; `undefined`: straight. */
  readonly way: ReportedConnection | undefined;
  readonly anchors: ReadonlyMap<ReportFinding, string>;
  /** Takes so many characters from what the page may still hold of exchanges; `false` where that is used up. */
  readonly takes: (characters: number) => boolean;
}

/** Beyond so many characters of exchanges the others are only named, so that a page of any run opens at once. */
const mostCharacters = 1_000_000;

export function viewOf({ report, evidence, load }: ReportDocument): View {
  let left = mostCharacters;
  return {
    report,
    load,
    exchanges: new Map((evidence?.exchanges ?? []).map((each) => [each.id, each])),
    deliveries: new Map((evidence?.deliveries ?? []).map((each) => [each.id, each])),
    variableOf: shellVariableOfKey,
    evidenceFile: "evidence.json",
    way: report.target.way,
    anchors: anchorsOf(report.findings),
    takes: (characters) => {
      if (characters > left) return false;
      left -= characters;
      return true;
    },
  };
}
