import { displayWidth, padToWidth } from "../../base/display-width.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { exchangeLines } from "../../report/model/exchange-text.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount, joinFirst } from "../../base/text.ts";
import { type Paint, createPaint } from "../../base/paint.ts";
import type { TerminalStyle } from "../terminal.ts";
import type { ReplaySelection } from "../../app/replay/select-exchanges.ts";
import { compareExchanges, hasSignificantDifference, type DifferenceRow } from "../../app/replay/compare-exchanges.ts";
import type { ReplayPair } from "../../app/replay/replay.ts";

const maxRows = 40;
const maxSameRows = 12;
const messageBounds = { bodyCharacters: 600, bodyLines: 10, headers: 12 } as const;

export interface ReplayView {
  readonly chosen: ReplaySelection;
  readonly pairs: readonly ReplayPair[];
  readonly stopped: string | null;
  readonly command: string;
}

export function replayText(
  { chosen, pairs, stopped, command }: ReplayView,
  look: TerminalStyle,
  isQuiet: boolean,
): string {
  const total = chosen.exchanges.length;
  const differing = pairs.filter(({ kept, now }) => hasSignificantDifference(compareExchanges(kept, now))).length;
  const lines = [
    ...(isQuiet ? [] : headingOf(chosen)),
    ...pairs.flatMap((pair, index) => pairLines(pair, `${index + 1} of ${total}`, look, isQuiet)),
    ...(isQuiet ? [] : caveats(chosen.exchanges)),
    summaryOf(pairs.length, differing, total, stopped),
    ...(isQuiet ? [] : [differenceLegend, `To judge it again: ${command}`]),
  ];
  return `${lines.join("\n")}\n`;
}

function headingOf({ findings }: ReplaySelection): string[] {
  return [
    ...findings.map(({ check, outcome, instance, expected, actual, reason }) => {
      const where = instance === undefined ? "" : ` (${sanitizeLine(instance, 40)})`;
      const text =
        expected === undefined ? (reason ?? actual ?? "") : `expected ${expected}; got ${actual ?? reason ?? ""}`;
      return `${sanitizeLine(check, 60)}${where} was saved as ${outcome}${text === "" ? "" : `: ${sanitizeLine(text, 400)}`}`;
    }),
    "",
  ];
}

function summaryOf(done: number, differing: number, total: number, stopped: string | null): string {
  const rest = stopped === null ? "" : `; ${stopped}${done < total ? `, ${total - done} not sent` : ""}`;
  if (done === 0) return `no response${rest}`;
  if (differing === 0) return `${formatCount(done, "response")} alike${rest}`;
  return `${differing} of ${formatCount(done, "response")} ${differing === 1 ? "differs" : "differ"}${rest}`;
}

function pairLines({ kept, now }: ReplayPair, place: string, look: TerminalStyle, isQuiet: boolean): string[] {
  const paint = createPaint(look.colour);
  const rows = compareExchanges(kept, now);
  const key = kept.key === null ? "" : `, with the key ${sanitizeLine(kept.key, 40)}`;
  const verdict = hasSignificantDifference(rows) ? paint.bold(paint.red("differs")) : paint.green("alike");
  return [
    `${paint.bold(sanitizeLine(kept.id, 40))}  ${sanitizeLine(now.request.method, 20)} ${sanitizeLine(now.request.url, 300)}${key} (${place}): ${verdict}`,
    ...(isQuiet ? [] : sentLines(now).map((line) => `  ${paint.dim(line)}`)),
    ...rowLines(rows, look.width, paint, isQuiet),
    ...unansweredLines(kept, "kept"),
    ...unansweredLines(now, "now"),
    "",
  ];
}

const sentLines = (exchange: Exchange): string[] =>
  exchangeLines(exchange, messageBounds)
    .slice(1)
    .filter((line) => line.startsWith(">"));

const unansweredLines = ({ answer }: Exchange, word: string): string[] =>
  answer.kind === "answered" ? [] : [`  * ${word}: ${answer.reason}: ${sanitizeLine(answer.detail)}`];

function rowLines(rows: readonly DifferenceRow[], width: number, paint: Paint, isQuiet: boolean): string[] {
  const of = (mark: DifferenceRow["mark"]): DifferenceRow[] => rows.filter((each) => each.mark === mark);
  const same = isQuiet ? [] : of("same");
  const different = [...of("significant"), ...(isQuiet ? [] : of("value"))];
  const usual = of("usual").map(({ name }) => sanitizeLine(name, 60));
  const nameWidth = Math.min(
    28,
    Math.max(0, ...[...same, ...different].map(({ name }) => displayWidth(sanitizeLine(name, 60)))),
  );
  const line = (mark: string, name: string, text: string): string =>
    `  ${mark} ${padToWidth(sanitizeLine(name, 60), nameWidth)}  ${sanitizeLine(text, Math.max(40, width - nameWidth - 12))}`;
  return [
    ...same.slice(0, maxSameRows).map(({ name, now }) => line(" ", name, now)),
    ...hiddenCountLines(same.length - maxSameRows, "more unchanged", paint),
    ...different.slice(0, maxRows).flatMap(({ mark, name, kept, now }) => {
      const sign = mark === "significant" ? "!" : "~";
      const isBold =
        mark === "significant" ? (text: string): string => paint.bold(text) : (text: string): string => text;
      return [isBold(line(sign, name, `saved ${kept}`)), isBold(line(sign, "", `now ${now}`))];
    }),
    ...hiddenCountLines(different.length - maxRows, "more that differ", paint),
    ...(usual.length === 0 || isQuiet ? [] : [`    ${paint.dim(`differ every time: ${joinFirst(usual, 12)}`)}`]),
  ];
}

const hiddenCountLines = (count: number, what: string, paint: Paint): string[] =>
  count > 0 ? [`    ${paint.dim(`${count} ${what}`)}`] : [];

const differenceLegend = "! differs in status, error code or shape; ~ differs in something else";

function caveats(kept: readonly Exchange[]): string[] {
  const isClockAdvanced = new Set(kept.map(({ clockMs }) => clockMs)).size > 1;
  const overlaps = kept.some((each, index) => index > 0 && each.sentMs < (kept[index - 1]?.answer.endMs ?? 0));
  const isSigned = kept.some(({ request }) => request.headers.some(([name]) => name.toLowerCase() === "x-signature"));
  return [
    ...(overlaps ? ["The run sent them at the same time; the replay sent them in sequence."] : []),
    ...(isClockAdvanced ? ["The run advanced the target's clock between them; the replay did not."] : []),
    ...(isSigned ? ["The signature and its time are those of the run; a target may refuse them for their age."] : []),
  ];
}
