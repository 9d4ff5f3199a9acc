import { labelled } from "../base/text.ts";
import { type Paint, paintFor } from "../base/paint.ts";
import type { NightJudgement } from "./gate/judge-night.ts";
import type { Night } from "./night.ts";
import { gateText, isWorse, type NightLine, nightLines } from "./summary.ts";

export interface NightLook {
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
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

const mostLines = 30;

/** A night against its history for the terminal: a line each, and the outcome last. Ends with a line feed. */
export function renderNight(judgement: NightJudgement, night: Night, { colour, width, nights }: NightLook): string {
  const paint = paintFor(colour);
  const lines = nightLines(judgement, night);
  const shown = lines.slice(0, mostLines);
  const isFine = !isWorse(judgement) && night.findings.length > 0;
  const word = paint.bold((isFine ? paint.green : paint.red)(gateText(judgement, night)));
  return [
    ...shown.flatMap(({ kind, says }) =>
      labelled(kind.padEnd(13), says, Math.max(40, width), (label) => paint[colours[kind]](label)),
    ),
    ...(lines.length > shown.length ? [`and ${lines.length - shown.length} more in --json and the trend page`] : []),
    `night ${nights} of the history: ${word}; the night itself is ${night.verdict}`,
    "",
  ].join("\n");
}
