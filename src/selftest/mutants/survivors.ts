import { groupsBy } from "../../base/lists.ts";
import { globMatcher } from "../../base/text.ts";
import type { MutantStatus, MutantTrial } from "./judge-mutants.ts";
import type { Mutant } from "./mutant.ts";

interface Survivor {
  /** A pattern for the mutant's operator, in which `*` stands for any text. */
  readonly operator: string;
  readonly place: string;
  readonly subject: string;
  readonly reason: string;
}

const any = "*";

const row = (reason: string, operator: string, place = any, subject = any): Survivor => ({
  operator,
  place,
  subject,
  reason,
});

const unspecifiedPath =
  "Nobody says that the document speaks of it: the path is not shown, and may be served by something else.";
const unspecifiedStatus = "403 is no status of the document, which shows no body for it.";
const ping =
  "The first request to a new address may be a greeting, which senders give it before its first event; a check must not call it a broken event.";
/**
 * The end of a mutant's `place` if the test clock was advanced during the exchange. Example: `usage 200, while the
 * clock was advanced`.
 */
const advancedSuffix = ", while the clock was advanced";
const whileAdvanced =
  "Meanwhile the target's clock was advanced: one header may describe the window before, another the one after.";
const longWait =
  "A target may ask for more patience than is needed: a pause that is a thousand times too long cannot be told from it.";

/**
 * Known mutants that break a clause although no check fails, with the reasons. Any other such mutant shows a defect of
 * the checks.
 */
export const survivors: readonly Survivor[] = [
  row(
    "The document gives a unit, and no range; a time before now is a time at which one may come again.",
    "a negative quantity",
    "stream 200",
    "retry_after",
  ),
  row(longWait, "milliseconds for seconds", any, "*retry_after"),
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
  row(whileAdvanced, "a reset of an hour before", `*${advancedSuffix}`),
  row(whileAdvanced, "a reset-after that is a minute short or long", `*${advancedSuffix}`),
  row(ping, any, "first deliveries of *", "type"),
  row(ping, "a body *", "first deliveries of *"),
  row(unspecifiedStatus, any, "* 403*", "the body"),
  row(unspecifiedStatus, any, "* 403*", "Content-Type"),
  row(unspecifiedPath, "a rate header left out", "other paths 20*"),
  row(unspecifiedStatus, "a rate header left out", "other paths 403"),
  row("A 404 may come before the key is looked at, and its headers speak of the address.", "a limit of 0", "* 404"),
  row(unspecifiedPath, "a limit that is not published", "other paths *"),
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
  row(
    "What becomes of a body that is no JSON object is not shown (REQ-6), but for its status (REQ-11).",
    any,
    "*, asked with a body that is no JSON object",
  ),
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

type GroupedMutant = Pick<Mutant, "operator" | "place" | "subject"> & { readonly fate: MutantStatus };

const patterns = survivors.map((known) => ({
  known,
  fits: ({ fate, operator, place, subject }: GroupedMutant) =>
    fate === "survived" &&
    globMatcher(known.operator)(operator) &&
    (globMatcher(known.place)(place) || globMatcher(known.place)(place.replace(advancedSuffix, ""))) &&
    globMatcher(known.subject)(subject),
}));

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

/** Returns the unneeded rows of `survivors`: rows that match no surviving mutant. */
const staleRows = (groups: readonly GroupedMutant[]): string[] =>
  patterns
    .filter(({ fits }) => !groups.some(fits))
    .map(({ known: { operator, place, subject } }) => [operator, place, subject].join(" | "));

const survivalReason = (group: GroupedMutant): string | null =>
  patterns.find(({ fits }) => fits(group))?.known.reason ?? null;

export interface MutantGroup extends GroupedMutant {
  readonly count: number;
  readonly example: { readonly source: string; readonly id: string; readonly said: readonly string[] };
  /** The reason in the table `survivors`. `null`: no row matches these mutants, so the harness has a defect. */
  readonly reason: string | null;
}

export interface MutantSummary {
  readonly wrong: number;
  readonly legal: number;
  readonly fates: Readonly<Record<MutantStatus, number>>;
  readonly groups: readonly MutantGroup[];
  readonly unexplained: number;
  readonly needless: readonly string[];
  /** `judged`: killed mutants that all checks judged. `alsoRed`: how many of these also broke an unexpected clause. */
  readonly sideEffects: {
    readonly judged: number;
    readonly alsoRed: number;
    readonly clauses: Readonly<Record<string, number>>;
  };
}

const expectedStatuses: readonly MutantStatus[] = ["killed", "unchanged"];

export function summariseMutants(trials: readonly MutantTrial[]): MutantSummary {
  const count = (fate: MutantStatus): number => trials.filter((each) => each.status === fate).length;
  const odd = trials.filter(({ status }) => !expectedStatuses.includes(status));
  const groups = groupsBy(odd, groupKey).map(groupOf);
  return {
    wrong: trials.filter(({ mutant }) => mutant.kind === "illegal").length,
    legal: trials.filter(({ mutant }) => mutant.kind === "legal").length,
    fates: {
      killed: count("killed"),
      "killed elsewhere": count("killed elsewhere"),
      survived: count("survived"),
      unchanged: count("unchanged"),
      changed: count("changed"),
      crashed: count("crashed"),
    },
    groups,
    needless: staleRows(groups),
    sideEffects: sideEffectsOf(
      trials.filter(({ mutant, isWhole, status }) => mutant.kind === "illegal" && isWhole && status === "killed"),
    ),
    unexplained: groups.filter(({ reason }) => reason === null).reduce((sum, group) => sum + group.count, 0),
  };
}

const sideEffectsOf = (trials: readonly MutantTrial[]): MutantSummary["sideEffects"] => ({
  judged: trials.length,
  alsoRed: trials.filter(({ alsoRed }) => alsoRed.length > 0).length,
  clauses: countsOf(
    trials.flatMap(({ mutant, alsoRed }) => alsoRed.map((clause) => `${clause} by ${mutant.operator}`)),
  ),
});

const countsOf = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(names, (each) => each)]
      .map(([name, { length }]) => [name, length] as const)
      .toSorted(([, one], [, other]) => other - one),
  );

const groupKey = ({ status, mutant: { operator, place, subject } }: MutantTrial): string =>
  [status, operator, place, subject].join(" | ");

function groupOf(trials: readonly [MutantTrial, ...MutantTrial[]]): MutantGroup {
  const [{ status, mutant, source, changes }] = trials;
  const { operator, place, subject, id } = mutant;
  const grouped = { fate: status, operator, place, subject };
  return {
    ...grouped,
    count: trials.length,
    example: { source, id, said: changes },
    reason: survivalReason(grouped),
  };
}
