import { globOf } from "../../base/glob.ts";
import type { MutantStatus } from "./judging.ts";

/** Why a wrong answer is not called wrong, or by another clause. */
export type SurvivalReason = string;

interface Survivor {
  readonly fates: readonly MutantStatus[];
  /** Globs. */
  readonly operator: string;
  readonly place: string;
  readonly subject: string;
  readonly reason: SurvivalReason;
}

const left: readonly MutantStatus[] = ["survived"];
const any = "*";

const row = (reason: SurvivalReason, operator: string, place = any, subject = any): Survivor => ({
  fates: left,
  operator,
  place,
  subject,
  reason,
});

const ofNobody =
  "Nobody says that the document speaks of it: the path is not shown, and may be served by something else.";
const noStatus = "403 is no status of the document, which shows no body for it.";
const greeting =
  "The first request to a new address may be a greeting, which senders give it before its first event; a check must not call it a broken event.";
const patience =
  "A target may ask for more patience than is needed: a pause that is a thousand times too long cannot be told from it.";

/** Wrong mutants that are let live, and why. Everything else that lives is a miss. */
export const survivors: readonly Survivor[] = [
  row(
    "The document gives a unit, and no range; a time before now is a time at which one may come again.",
    "a negative quantity",
    "stream 200",
    "retry_after",
  ),
  row(patience, "milliseconds for seconds", any, "*retry_after"),
  row(
    "The target's clock was moved while the answer was under way: so long it may have taken.",
    "milliseconds for seconds",
    any,
    "*execution_time",
  ),
  row(
    "One report alone does not show it: `uptime` is compared from report to report, and one that is far above the others is a jump (HLT-8).",
    "milliseconds for seconds",
    any,
    "uptime",
  ),
  row(greeting, any, "first deliveries of *", "type"),
  row(greeting, "a body *", "first deliveries of *"),
  row(noStatus, any, "* 403", "the body"),
  row(noStatus, any, "* 403", "Content-Type"),
  row(ofNobody, "a rate header left out", "other paths 200"),
  row(
    "Its method is not shown, so that a 404 may be a router's, as long as nothing shows that the endpoint is there.",
    "a limit that is not published",
    "operations 404",
  ),
  row(ofNobody, "a limit that is not published", "other paths *"),
  row(
    "A 404 may come before the key is looked at, and its headers speak of the address.",
    "a limit that is not published",
    "* 404",
  ),
  row(
    "What a page past the end, or of no items, has is not shown (LST-10): what it has is of its type.",
    "a required field *",
    "list 200, outside the pages",
  ),
  row("What becomes of a body that is not JSON is not shown (REQ-6).", any, "*, asked with a body that is not JSON"),
  row(
    "It was asked without a key, or with one that is written otherwise: what comes of that is for the clauses on keys.",
    any,
    "*, without a key of the target",
  ),
  row(
    "The document does not say that the metadata of an envelope has all of its fields (REQ-8 asks for their types).",
    "a required field left out",
    "* 200",
    "data.metadata.*",
  ),
  row(
    "Only by its fields can it be told what it is: no endpoint is said to show metrics.",
    "a required field left out",
    "other paths 200",
    "total_deliveries",
  ),
];

interface Grouped {
  readonly fate: MutantStatus;
  readonly operator: string;
  readonly place: string;
  readonly subject: string;
}

const patterns = survivors.map((known) => ({
  known,
  fits: ({ fate, operator, place, subject }: Grouped) =>
    known.fates.includes(fate) &&
    globOf(known.operator)(operator) &&
    globOf(known.place)(place) &&
    globOf(known.subject)(subject),
}));

/** The table of them in Markdown. */
export const survivorsTable = (): string =>
  [
    "| what is done | where | to what | why it is let live |",
    "|---|---|---|---|",
    ...survivors.map(({ operator, place, subject, reason }) =>
      ["", operator, place, subject, reason, ""]
        .map((cell) => (cell === "*" ? "any" : cell.replaceAll("|", "\\|")))
        .join(" | ")
        .trim(),
    ),
  ].join("\n");

/** Rows of the table that none of these needs: what they excuse has been killed since, or is not made any more. */
export const staleRows = (groups: readonly Grouped[]): string[] =>
  patterns
    .filter(({ fits }) => !groups.some(fits))
    .map(({ known: { operator, place, subject } }) => [operator, place, subject].join(" | "));

/** Why a mutant may meet its fate; `null` where the table does not know it. */
export const survivalReason = (group: Grouped): SurvivalReason | null =>
  patterns.find(({ fits }) => fits(group))?.known.reason ?? null;
