import type { ReportFinding } from "./report.ts";
import { own, type Text } from "./text.ts";

/** Names of sections, in the order in which a report shows them. */
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

/** A part of a report with a heading. Every format lays it out in its own way. */
export interface Section {
  readonly name: SectionName;
  readonly title: string;
  readonly lead?: Text;
  /** The section in one line, for formats with little room. Absent: these formats show the blocks. */
  readonly summary?: Text;
  readonly blocks: readonly SectionBlock[];
}

export type SectionBlock = TableBlock | FactsBlock | ItemsBlock | CausesBlock;

export interface TableBlock {
  readonly kind: "table";
  readonly name: string;
  readonly columns: readonly TableBlockColumn[];
  readonly rows: readonly (readonly TableCell[])[];
  /** An explanation of the table, for formats with room for it. */
  readonly lead?: Text;
  /** Whether the table matters little. The HTML page collapses it. */
  readonly isMinor?: boolean;
}

export interface TableBlockColumn {
  readonly head: string;
  readonly align: "left" | "right";
  /** Order in which columns are left out if there is too little room: the highest first. Absent: never. */
  readonly dropRank?: number;
}

/** How good the content of a table cell is. Colour or weight show it in addition to the words. */
export type Tone = "plain" | "good" | "bad" | "caution";

export interface TableCell {
  readonly text: Text;
  readonly tone: Tone;
  /** The finding or the load run to which the cell links, in formats with links. */
  readonly link?: CellLink;
}

export type CellLink =
  | { readonly kind: "finding"; readonly finding: ReportFinding }
  | { readonly kind: "load run"; readonly evidence: string };

/** A list of facts, each with a label and a value. */
export interface FactsBlock {
  readonly kind: "facts";
  /** A word before each label, in formats that show facts as lines. */
  readonly prefix?: string;
  readonly facts: readonly LabelledValue[];
}

export interface LabelledValue {
  readonly label: Text;
  readonly value: Text;
}

export const fact = (label: string, value: Text): LabelledValue => ({ label: own(label), value });

export interface ItemsBlock {
  readonly kind: "items";
  readonly items: readonly Text[];
}

/** Findings grouped by their common cause, largest group first. */
export interface CausesBlock {
  readonly kind: "causes";
  readonly head: string;
  /** A word before each cause, in formats without a heading for causes. May be empty. */
  readonly prefix: string;
  readonly causes: readonly SharedCause[];
}

export interface SharedCause {
  readonly text: Text;
  readonly findings: readonly ReportFinding[];
}

export const cell = (text: Text, tone: Tone = "plain"): TableCell => ({ text, tone });

/** Creates a table cell that links to a finding. */
export const findingCell = (text: Text, finding: ReportFinding | undefined): TableCell =>
  finding === undefined ? cell(text) : { text, tone: "plain", link: { kind: "finding", finding } };

/** Creates columns of left-aligned text. */
export const textColumns = (...heads: readonly string[]): TableBlockColumn[] =>
  heads.map((head) => ({ head, align: "left" }));
