import type { ReportFinding } from "./report.ts";
import type { Text } from "./text.ts";

/** Names of the sections, in the order in which a report shows them. */
export type SectionName =
  | "errors"
  | "load"
  | "counts"
  | "coverage"
  | "windows"
  | "streams"
  | "caveats"
  | "skipped"
  | "upcoming"
  | "readings"
  | "observations"
  | "created"
  | "about";

/** A part of a report with a heading. Every format lays it out in its own way. */
export interface Section {
  readonly name: SectionName;
  readonly title: string;
  /** Explains the section in a sentence or two. */
  readonly lead?: Text;
  /** The section in one line, for formats with little room. If it is absent, these formats show the blocks. */
  readonly summary?: Text;
  readonly blocks: readonly Block[];
}

export type Block = TableBlock | FactsBlock | ItemsBlock | CausesBlock;

export interface TableBlock {
  readonly kind: "table";
  readonly name: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** Explains the table, for formats with room for it. */
  readonly lead?: Text;
  /** Whether the table is of little interest, so that the HTML page collapses it. */
  readonly isMinor?: boolean;
}

export interface Column {
  readonly head: string;
  readonly align: "left" | "right";
  /** If there is too little room, columns with the highest rank are left out first. A column without a rank is never left out. */
  readonly dropRank?: number;
}

/** Whether the content of a table cell is good or bad. Colour or weight shows the tone, in addition to the words. */
export type Tone = "plain" | "good" | "bad" | "caution";

export interface Cell {
  readonly text: Text;
  readonly tone: Tone;
  /** Target of a link to a finding or a load run, in formats with links. */
  readonly link?: Link;
}

export type Link =
  | { readonly kind: "finding"; readonly finding: ReportFinding }
  | { readonly kind: "load run"; readonly evidence: string };

/** A list of labels, each with a value. */
export interface FactsBlock {
  readonly kind: "facts";
  /** Printed before each label, in formats that show facts as lines and not as a table. */
  readonly prefix?: string;
  readonly facts: readonly Fact[];
}

export interface Fact {
  readonly label: Text;
  readonly value: Text;
}

export interface ItemsBlock {
  readonly kind: "items";
  readonly items: readonly Text[];
}

/** Findings grouped by a common cause, the largest group first. */
export interface CausesBlock {
  readonly kind: "causes";
  readonly head: string;
  /** Printed before each cause, in formats without a heading for causes. Empty if causes need no prefix. */
  readonly prefix: string;
  readonly causes: readonly Cause[];
}

export interface Cause {
  readonly text: Text;
  readonly findings: readonly ReportFinding[];
}

export const cell = (text: Text, tone: Tone = "plain"): Cell => ({ text, tone });

/** A table cell with a link to a finding. */
export const findingCell = (text: Text, finding: ReportFinding | undefined): Cell =>
  finding === undefined ? cell(text) : { text, tone: "plain", link: { kind: "finding", finding } };

/** Columns of text, aligned to the left. */
export const textColumns = (...heads: readonly string[]): Column[] => heads.map((head) => ({ head, align: "left" }));
