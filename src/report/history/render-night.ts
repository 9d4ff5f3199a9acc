import type { TerminalSettings } from "../terminal/section-lines.ts";
import { createPaint, formatCount, formatLabelled, type Paint } from "../../base/text.ts";
import { type NightJudgement, flakyCheckOf } from "./gate/judge-night.ts";
import { type Night, type NightLoad, countsCaveat, timesCaveat, type DamagedNight } from "./night.ts";
import {
  brokenFindingLines,
  formatNightVerdict,
  formatPairs,
  hasNewRegression,
  type NightLine,
  nightLines,
  nightStatus,
} from "./summary.ts";
import { markdownProse, markdownTable } from "../formats/markdown-text.ts";

const lineColours: Readonly<Record<NightLine["kind"], keyof Paint>> = {
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

export function renderNightTerminal(
  judgement: NightJudgement,
  night: Night,
  { colour, width, nights }: TerminalSettings & { readonly nights: number },
): string {
  const paint = createPaint(colour);
  const lines = nightLines(judgement, night);
  const shown = lines.slice(0, maxTerminalLines);
  const colourOf = { good: paint.green, bad: paint.red, unsure: paint.yellow }[nightStatus(judgement, night)];
  const broken = brokenFindingLines(judgement, night);
  const textWidth = Math.max(40, width);
  return [
    paint.bold(colourOf(formatNightVerdict(judgement, night))),
    ...broken.slice(0, maxTerminalLines).flatMap((says) => formatLabelled("broken       ", says, textWidth, paint.red)),
    ...(broken.length > maxTerminalLines ? [`and ${broken.length - maxTerminalLines} more broken in --json`] : []),
    ...shown.flatMap(({ kind, says }) =>
      formatLabelled(kind.padEnd(13), says, textWidth, (label) => paint[lineColours[kind]](label)),
    ),
    ...(lines.length > shown.length ? [`and ${lines.length - shown.length} more in --json and the trend page`] : []),
    ...(judgement.pairs === null
      ? []
      : formatLabelled("pairs        ", formatPairs(judgement.pairs), textWidth, paint.dim)),
    `night ${nights} of the history`,
    "",
  ].join("\n");
}

const maxMarkdownRows = 60;
const statusMarks = { good: "✅", bad: "❌", unsure: "⚠️" } as const;

export function renderNightMarkdown(judgement: NightJudgement, night: Night, nights: number): string {
  const lines = nightLines(judgement, night);
  const { totals, target, verdict, requests } = night;
  const broken = brokenFindingLines(judgement, night);
  const rows = lines.slice(0, maxMarkdownRows).map(({ kind, says }) => [kind, markdownProse(says)]);
  return [
    `## ${statusMarks[nightStatus(judgement, night)]} Nightly: ${markdownProse(target.name)}: ${markdownProse(formatNightVerdict(judgement, night))}`,
    "",
    ...(broken.length === 0
      ? []
      : [
          markdownTable(
            ["broken"],
            broken.slice(0, maxMarkdownRows).map((says) => [markdownProse(says)]),
          ),
          "",
        ]),
    ...(broken.length > maxMarkdownRows ? [`and ${broken.length - maxMarkdownRows} more broken`, ""] : []),
    `**${verdict}**: ${formatCount(totals.pass, "check")} passed, ${totals.fail} failed, ${formatCount(totals.warning, "warning")}, ${formatCount(requests, "request")}. Night ${nights} of the history.${judgement.pairs === null ? "" : ` Pairs of properties: ${formatPairs(judgement.pairs)}.`}`,
    "",
    ...(night.findings.length > 0 || night.stopped === undefined ? [] : [markdownProse(night.stopped), ""]),
    ...(rows.length === 0 ? [] : [markdownTable(["what", "says"], rows), ""]),
    ...(lines.length > maxMarkdownRows ? [`and ${lines.length - maxMarkdownRows} more in the trend page`, ""] : []),
  ].join("\n");
}

export function renderNightJson(
  { comparison, broken, ...judgement }: NightJudgement,
  tonight: Night,
  damaged: readonly DamagedNight[],
): string {
  const { findings: _, load, second, stopped, ...night } = tonight;
  const document = {
    format: "agent-hosting-conformance/nightly/1",
    isWorse: hasNewRegression({ comparison, broken, ...judgement }),
    ...judgement,
    regressions: judgement.regressions.map((each) => ({
      ...each,
      isFlaky: flakyCheckOf(each, judgement.flaky) !== null,
    })),
    night: {
      ...night,
      stopped: stopped ?? null,
      load: load.map(loadForJson),
      second: second.map(loadForJson),
      broken: broken.map(({ finding, since, isOlder }) => ({ ...finding, says: finding.actual, since, isOlder })),
    },
    comparedWith: comparison === null ? null : comparison.older.started,
    fixed: comparison?.fixed ?? [],
    damaged,
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

const loadForJson = (run: NightLoad) => ({ ...run, validity: { counts: countsCaveat(run), times: timesCaveat(run) } });
