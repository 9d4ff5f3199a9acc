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
  | "readings"
  | "observations"
  | "created"
  | "about";

/** A part of a report under a heading of its own. Every format lays it out in its own way. */
export interface Section {
  readonly name: SectionName;
  readonly title: string;
  /** A sentence or two that explain the section; `null` where the title says enough. */
  readonly lead: Text | null;
  /** The section on one line, for formats with little room; `null` where it has to be shown in full. */
  readonly summary: Text | null;
  readonly blocks: readonly Block[];
}

export type Block = TableBlock | FactsBlock | ItemsBlock | CausesBlock;

export interface TableBlock {
  readonly kind: "table";
  readonly name: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** Explains the table, for formats with room for it. */
  readonly lead: Text | null;
  /** Whether the table is of little interest, so that a page can fold it away. */
  readonly isMinor: boolean;
}

export interface Column {
  readonly head: string;
  readonly align: "left" | "right";
  /** Columns with the highest number are left out first where there is too little room; 0: never. */
  readonly dropRank: number;
}

/** Quality of a cell, shown by colour or weight in addition to the words. */
export type Tone = "plain" | "good" | "bad" | "caution";

export interface Cell {
  readonly text: Text;
  readonly tone: Tone;
  /** Target of a link, in formats with links. */
  readonly link: Link | null;
}

export type Link =
  | { readonly kind: "finding"; readonly finding: ReportFinding }
  | { readonly kind: "load run"; readonly evidence: string };

/** Labels, each with a value. */
export interface FactsBlock {
  readonly kind: "facts";
  /** Stands before each label in formats without a table of labels; empty where a label needs none. */
  readonly prefix: string;
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
  /** Stands before each cause in formats without a heading for them; empty where a cause needs none. */
  readonly prefix: string;
  readonly causes: readonly Cause[];
}

export interface Cause {
  readonly text: Text;
  readonly findings: readonly ReportFinding[];
}

export const cell = (text: Text, tone: Tone = "plain", link: Link | null = null): Cell => ({ text, tone, link });
export const linkTo = (finding: ReportFinding): Link => ({ kind: "finding", finding });
