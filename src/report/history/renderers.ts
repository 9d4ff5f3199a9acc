import type { TerminalSettings } from "../terminal/blocks.ts";
import { formatLabelled, formatCount } from "../../base/text.ts";
import { type Paint, paintFor } from "../../base/paint.ts";
import { type NightJudgement, flakyOf } from "./gate/judge-night.ts";
import { type Night, type NightLoad, countsCaveat, timesCaveat } from "./night.ts";
import { formatGateResult, isWorse, type NightLine, nightLines } from "./summary.ts";
import { prose, table } from "../formats/markdown-text.ts";
import { isBroken } from "./gate/flaky.ts";
import type { DamagedNight } from "./night.ts";

export interface NightTerminalOptions extends TerminalSettings {
  /** Nights in the history, tonight included. */
  readonly nights: number;
}

const colours: Readonly<Record<NightLine["kind"], keyof Paint>> = {
  regression: "red",
  slower: "red",
  known: "yellow",
  unconfirmed: "yellow",
  flaky: "yellow",
  "left out": "yellow",
  "other suite": "yellow",
  faster: "green",
  fixed: "green",
};

const maxTerminalLines = 30;

/** Renders a night against its history for the terminal: a line for each result, and the verdict last. Ends with a line feed. */
export function renderNightTerminal(
  judgement: NightJudgement,
  night: Night,
  { colour, width, nights }: NightTerminalOptions,
): string {
  const paint = paintFor(colour);
  const lines = nightLines(judgement, night);
  const shown = lines.slice(0, maxTerminalLines);
  const isFine = !isWorse(judgement) && night.findings.length > 0;
  const word = paint.bold((isFine ? paint.green : paint.red)(formatGateResult(judgement, night)));
  return [
    ...shown.flatMap(({ kind, says }) =>
      formatLabelled(kind.padEnd(13), says, Math.max(40, width), (label) => paint[colours[kind]](label)),
    ),
    ...(lines.length > shown.length ? [`and ${lines.length - shown.length} more in --json and the trend page`] : []),
    `night ${nights} of the history: ${word}; the night itself is ${night.verdict}`,
    "",
  ].join("\n");
}

const maxMarkdownRows = 60;

/** Renders a night against its history as Markdown. Ends with a line feed. */
export function renderNightMarkdown(judgement: NightJudgement, night: Night, nights: number): string {
  const lines = nightLines(judgement, night);
  const { totals, target, verdict, requests } = night;
  const rows = lines.slice(0, maxMarkdownRows).map(({ kind, says }) => [kind, prose(says)]);
  return [
    `## ${isWorse(judgement) ? "❌" : night.findings.length === 0 ? "⚠️" : "✅"} Nightly: ${prose(target.name)}: ${formatGateResult(judgement, night)}`,
    "",
    `The night itself is **${verdict}**: ${formatCount(totals.pass, "check")} passed, ${totals.fail} failed, ${formatCount(totals.warning, "warning")}, ${formatCount(requests, "request")}. Night ${nights} of the history.`,
    "",
    ...(night.findings.length > 0 || night.stopped === undefined ? [] : [prose(night.stopped), ""]),
    ...(rows.length === 0 ? [] : [table(["what", "says"], rows), ""]),
    ...(lines.length > maxMarkdownRows ? [`and ${lines.length - maxMarkdownRows} more in the trend page`, ""] : []),
  ].join("\n");
}

/** Renders a night against its history as JSON. Ends with a line feed. */
export function renderNightJson(
  { comparison, ...judgement }: NightJudgement,
  { findings, load, second, stopped, ...night }: Night,
  damaged: readonly DamagedNight[],
): string {
  const document = {
    format: "agent-hosting-conformance/nightly/1",
    isWorse: isWorse({ comparison, ...judgement }),
    ...judgement,
    regressions: judgement.regressions.map((each) => ({ ...each, isFlaky: flakyOf(each, judgement.flaky) !== null })),
    night: {
      ...night,
      stopped: stopped ?? null,
      load: load.map(loadForJson),
      second: second.map(loadForJson),
      broken: findings.filter(({ outcome }) => isBroken(outcome)).map((each) => ({ ...each, says: each.actual })),
    },
    comparedWith: comparison === null ? null : comparison.older.started,
    fixed: comparison?.fixed ?? [],
    damaged,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

const loadForJson = (run: NightLoad) => ({ ...run, validity: { counts: countsCaveat(run), times: timesCaveat(run) } });
