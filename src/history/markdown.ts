import { prose, table } from "../report/formats/markdown-text.ts";
import { counted } from "../base/text.ts";
import type { NightJudgement } from "./gate/judge-night.ts";
import type { Night } from "./night.ts";
import { gateText, isWorse, nightLines } from "./summary.ts";

const mostLines = 60;

/** A night against its history as Markdown. Ends with a line feed. */
export function nightMarkdown(judgement: NightJudgement, night: Night, nights: number): string {
  const lines = nightLines(judgement, night);
  const { totals, target, verdict, requests } = night;
  const rows = lines.slice(0, mostLines).map(({ kind, says }) => [kind, prose(says)]);
  return [
    `## ${isWorse(judgement) ? "❌" : night.findings.length === 0 ? "⚠️" : "✅"} Nightly: ${prose(target.name)}: ${gateText(judgement, night)}`,
    "",
    `The night itself is **${verdict}**: ${counted(totals.pass, "check")} passed, ${totals.fail} failed, ${counted(totals.warning, "warning")}, ${counted(requests, "request")}. Night ${nights} of the history.`,
    "",
    ...(rows.length === 0 ? [] : [table(["what", "says"], rows), ""]),
    ...(lines.length > mostLines ? [`and ${lines.length - mostLines} more in the trend page`, ""] : []),
  ].join("\n");
}
