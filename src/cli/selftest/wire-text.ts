import { formatNumber } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import { describeMutant } from "../../selftest/wire/mutant.ts";
import { type ClassRow, isSurvivor, type WireSummary, survivalReason } from "../../selftest/wire/survivors.ts";
import type { WireTrial } from "../../selftest/wire/trial.ts";

/** Without `--verbose`, a row shows at most this many texts of failed checks. */
const maxReported = 3;

/** Formats the result of one mutant as a row. Without `isVerbose`, a mutant with the expected result gets no text. */
export function wireRow(trial: WireTrial, seed: number, isVerbose: boolean): string {
  const { mutant, status, said, changed, ms } = trial;
  const isExpected = status === "killed" || status === "passed";
  if (isExpected && !isVerbose) return "";
  const reason = isSurvivor(trial) ? survivalReason(trial) : null;
  return [
    `${status.padEnd(11)} ${describeMutant(mutant)}`,
    `            ${formatCount(changed, "answer")} changed, ${(ms / 1000).toFixed(1)} s: conformance selftest --wire --seed ${seed} --mutant ${mutant.number}`,
    ...(reason === null ? [] : [`            known: ${reason}`]),
    ...said.slice(0, isVerbose ? said.length : maxReported).map((text) => `            ${text}`),
    "",
  ].join("\n");
}

const percent = (value: number | null): string => (value === null ? "none drawn" : `${value.toFixed(1)} %`);

/** Formats the totals of all mutants. */
export function wireText(summary: WireSummary, seconds: number): string {
  const { countByStatus, byCondition, byMutation, killedPercent, killedPercentOfExtraProperties, unexplained } =
    summary;
  const wrong = countByStatus.killed + countByStatus.survived + countByStatus["not visited"];
  const legal = countByStatus.passed + countByStatus.flagged;
  return [
    "",
    ...table("mutation", byMutation),
    "",
    ...table("condition", byCondition),
    "",
    `${formatCount(wrong + legal + countByStatus.broken, "mutant")} in ${seconds.toFixed(0)} s: ${formatNumber(wrong)} wrong, ${formatNumber(legal)} legal`,
    `  wrong   ${formatNumber(countByStatus.killed)} killed (${percent(killedPercent)}; of conditions that are no dimension ${percent(killedPercentOfExtraProperties)}), ${formatNumber(countByStatus.survived)} visited and not noticed, ${formatNumber(countByStatus["not visited"])} not visited`,
    `  legal   ${formatNumber(countByStatus.passed)} passed, ${formatNumber(countByStatus.flagged)} turned a clause red`,
    ...(countByStatus.broken === 0 ? [] : [`  ${formatCount(countByStatus.broken, "mutant")} could not be tried`]),
    unexplained === 0
      ? "every survivor is known with its reason (docs/trust.md)"
      : `${formatNumber(unexplained)} survivors without a reason in docs/trust.md`,
    "",
  ].join("\n");
}

function table(head: string, rows: readonly ClassRow[]): string[] {
  const width = Math.max(head.length, ...rows.map(({ name }) => name.length));
  const cells = (name: string, ...numbers: readonly (string | number)[]): string =>
    name.padEnd(width) + numbers.map((each) => String(each).padStart(13)).join("");
  return [
    cells(head, "killed", "not noticed", "not visited"),
    ...rows.map(({ name, killed, survived, notVisited }) => cells(name, killed, survived, notVisited)),
  ];
}
