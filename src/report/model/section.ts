import type { ReportFinding } from "./finding.ts";

export type SectionName =
  | "errors"
  | "recording"
  | "load"
  | "counts"
  | "profiles"
  | "coverage"
  | "streaming"
  | "windows"
  | "streams"
  | "caveats"
  | "skipped"
  | "upcoming"
  | "readings"
  | "observations"
  | "created"
  | "about";

/** A part of a report with a heading. Each report format lays out the section in its own way. */
export interface Section {
  readonly name: SectionName;
  readonly title: string;
  readonly lead?: Text;
  /** The whole section as one text for the terminal. Without `summary`, the terminal shows the blocks. */
  readonly summary?: Text;
  readonly blocks: readonly SectionBlock[];
}

export type SectionBlock = TableBlock | FactsBlock | ItemsBlock | CausesBlock;

export interface TableBlock {
  readonly kind: "table";
  readonly name: string;
  readonly columns: readonly TableBlockColumn[];
  readonly rows: readonly (readonly TableCell[])[];
  readonly lead?: Text;
  /** Whether the table matters little. The HTML page collapses a minor table. */
  readonly isMinor?: boolean;
}

export interface TableBlockColumn {
  readonly head: string;
  readonly align: "left" | "right";
  /**
   * On a narrow terminal, the columns with the highest rank are dropped first. A column without a rank, or with rank 0,
   * is never dropped.
   */
  readonly dropRank?: number;
}

export type Tone = "plain" | "good" | "bad" | "caution";

export interface TableCell {
  readonly text: Text;
  readonly tone: Tone;
  readonly link?: CellLink;
}

export type CellLink =
  | { readonly kind: "finding"; readonly finding: ReportFinding }
  | { readonly kind: "load run"; readonly evidence: string };

export interface FactsBlock {
  readonly kind: "facts";
  readonly prefix?: string;
  readonly facts: readonly LabelledValue[];
}

export interface LabelledValue {
  readonly label: Text;
  readonly value: Text;
}

export const fact = (label: string, value: Text): LabelledValue => ({ label: own(label), value });

interface ItemsBlock {
  readonly kind: "items";
  readonly items: readonly Text[];
}

export interface CausesBlock {
  readonly kind: "causes";
  readonly head: string;
  readonly prefix: string;
  readonly causes: readonly SharedCause[];
}

export interface SharedCause {
  readonly text: Text;
  readonly findings: readonly ReportFinding[];
}

export const cell = (content: Text, tone: Tone = "plain"): TableCell => ({ text: content, tone });

export const findingCell = (content: Text, finding: ReportFinding | undefined): TableCell =>
  finding === undefined ? cell(content) : { ...cell(content), link: { kind: "finding", finding } };

export const textColumns = (...heads: readonly string[]): TableBlockColumn[] =>
  heads.map((head) => ({ head, align: "left" }));

/** A text in parts. Renderers must escape the parts of the kind `outside`, which come from a target or a person. */
export interface Text {
  readonly parts: readonly TextPart[];
}

type TextPart = OwnPart | OutsidePart;

interface OwnPart {
  readonly kind: "own";
  readonly words: string;
}

interface OutsidePart {
  readonly kind: "outside";
  readonly raw: string;
  /** Maximum width in terminal columns. A longer text is cut. */
  readonly max: number;
  /** Whether the text reads as part of a sentence. Otherwise, Markdown shows it as code. */
  readonly isProse: boolean;
}

/** A value for a {@link text} template. Strings are not allowed, because they might come from the target. */
type TextContent = Text | number | readonly Text[];

/** Creates a text from a template of the harness's own words. The texts of an inserted list are joined with commas. */
export function text(template: TemplateStringsArray, ...holes: readonly TextContent[]): Text {
  const parts = template.flatMap((words, at) => [ownPart(words), ...partsOf(holes[at] ?? [])]);
  return { parts: parts.filter((part) => part.kind === "outside" || part.words !== "") };
}

function partsOf(hole: TextContent): readonly TextPart[] {
  if (typeof hole === "number") return [ownPart(String(hole))];
  return "parts" in hole ? hole.parts : joinTexts(hole).parts;
}

const ownPart = (words: string): OwnPart => ({ kind: "own", words });

/** Creates a text of the harness's own words, such as a constant or a formatted number. */
export const own = (words: string): Text => ({ parts: words === "" ? [] : [ownPart(words)] });

/** Creates a text from an untrusted value, such as a name or an observed value. */
export const outside = (raw: string, max = 300): Text => ({ parts: [{ kind: "outside", raw, max, isProse: false }] });

/** Creates a text from untrusted words that read as part of a sentence, such as a skip reason. */
export const outsideProse = (raw: string, max = 300): Text => ({
  parts: [{ kind: "outside", raw, max, isProse: true }],
});

export const joinTexts = (texts: readonly Text[], separator = ", "): Text => ({
  parts: texts.flatMap(({ parts }, at) => (at === 0 ? parts : [ownPart(separator), ...parts])),
});

/** Joins the first `max` texts, and adds the number of the others: `SSE-5, SSE-6 and 3 more`. */
export function joinFirstTexts(texts: readonly Text[], max: number): Text {
  const hiddenCount = texts.length - max;
  const joined = joinTexts(texts.slice(0, max));
  return hiddenCount > 0 ? text`${joined} and ${hiddenCount} more` : joined;
}

/** Converts a `Text` to a string. `format.outside` gets the untrusted parts, and must escape them. */
export const renderText = (
  { parts }: Text,
  format: { readonly own: (words: string) => string; readonly outside: (part: OutsidePart) => string },
): string => parts.map((part) => (part.kind === "own" ? format.own(part.words) : format.outside(part))).join("");
