import { formatDuration } from "../../../base/duration.ts";
import { formatNumber } from "../../../base/numbers.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { formatCount } from "../../../base/text.ts";
import {
  type BrokenClause,
  impactOfCause,
  causesHeading,
  type FailureCause,
  failureCauses,
  furtherCauses,
  maxCausesShown,
} from "../../model/broken-clauses.ts";
import { breachText, clausesOf } from "../../model/finding-text.ts";
import type { Report, Verdict } from "../../model/report.ts";
import { pickSections } from "../../model/report-sections.ts";
import type { SharedCause, Section } from "../../model/section.ts";
import { verdictReasons } from "../../model/verdict-summary.ts";
import { type AnchorOf, numberTiles, outcomeBadge, pageSection, prose, textHtml } from "../elements.ts";
import { type Html, html } from "../markup.ts";
import type { PageContext } from "./evidence.ts";

interface VerdictText {
  readonly word: string;
  readonly tone: "pass" | "fail" | "warning";
  readonly says: string;
}

export const verdictTexts: Readonly<Record<Verdict, VerdictText>> = {
  conformant: {
    word: "Conformant",
    tone: "pass",
    says: "Every must clause that a request can show was exercised, and every one of them held.",
  },
  nonconformant: {
    word: "Not conformant",
    tone: "fail",
    says: "The target breaks sentences of the interface document that are binding.",
  },
  partial: {
    word: "Nothing broken, not everything exercised",
    tone: "warning",
    says: "All that was exercised held, but some must clauses were not exercised, so this is no full proof.",
  },
  incomplete: {
    word: "Stopped early",
    tone: "warning",
    says: "The run ended before its plan did. Nothing was broken by then.",
  },
  unreachable: {
    word: "Nothing judged",
    tone: "warning",
    says: "The target could not be reached or used, so this says nothing about its behaviour.",
  },
};

export function verdictBanner(report: Report): Html {
  const { word, tone, says } = verdictTextOf(report);
  return html`<div class="banner ${tone}">
      <p class="word">${word}</p>
      <p>${says}</p>
      <p class="small">${textHtml(verdictReasons(report))}</p>
      ${report.totals.error > 0 && errorNote(report)}
    </div>
    ${numberTiles(headlineNumbers(report))}`;
}

function verdictTextOf({ verdict, totals, load }: Report): VerdictText {
  if (verdict !== "nonconformant" && totals.fail > 0)
    return {
      word: "Fails under load",
      tone: "fail",
      says: "No clause is broken, but what a load scenario demands was not met.",
    };
  const found = verdictTexts[verdict];
  if (load === undefined || verdict === "nonconformant") return found;
  if (verdict === "conformant")
    return {
      ...found,
      word: "Conformant under load",
      says: "Every must clause that load can show was exercised, and every one of them held.",
    };
  if (verdict !== "partial") return found;
  return {
    word: "Nothing broken under load",
    tone:
      totals.skipped + totals.error > 0 || load.runs.some(({ validity }) => validity.invalid !== null)
        ? "warning"
        : "pass",
    says: "What was run held. Clauses that only other scenarios show were not exercised.",
  };
}

const errorNote = ({ totals }: Report): Html =>
  html`<p>
    The harness itself failed at ${formatCount(totals.error, "check")}. That is not the target’s fault, and nothing is
    concluded from them.
  </p>`;

function headlineNumbers({
  totals,
  findings,
  requests,
  executions,
  lost,
  durationMs,
  load,
}: Report): [string, string][] {
  const clauses = clausesOf(findings.filter(({ outcome }) => outcome === "pass")).length;
  const numbers: [string, number][] = [
    ["failed", totals.fail],
    ["warnings", totals.warning],
    ["notes", totals.note],
    ["passed", totals.pass],
    ["clauses proven", clauses],
    ...(load === undefined ? [] : [["load runs", load.runs.length] as [string, number]]),
    ["gaps observed", totals.observed],
    ["checks skipped", totals.skipped],
    ["requests", requests],
    ["agent executions", executions ?? 0],
    ["lost and sent again", lost ?? 0],
  ];
  const nonZero = numbers.filter(([name, count]) => count > 0 || name === "failed");
  return [
    ...nonZero.map(([name, count]): [string, string] => [name, formatNumber(count)]),
    ["duration", formatDuration(durationMs)],
  ];
}

export function fixFirstSection({ report, anchorOf }: PageContext, sections: readonly Section[]): Html {
  const all = failureCauses(report);
  if (all.length === 0) return enablersSection(sections);
  const shown = all.slice(0, maxCausesShown);
  const further = furtherCauses(all);
  return pageSection("fix", causesHeading(all), [
    html`<ol class="fixes">
      ${shown.map((cause) => fixItem(cause, anchorOf))}
    </ol>`,
    further !== null && html`<p class="muted">${further} below, in the section of each clause.</p>`,
  ]);
}

function fixItem(cause: FailureCause, anchorOf: AnchorOf): Html {
  const [{ outcome, group }, ...others] = cause.broken;
  const [first] = group.distinctFindings;
  return html`<li class="card">
    <p>
      ${outcomeBadge(outcome)}
      <a class="clause" href="#${anchorOf(first.finding)}">${sanitizeLine(group.clause, 80)}</a>
      <strong>${prose(group.says === "" ? "A load scenario demands this." : group.says)}</strong>
    </p>
    <p>${textHtml(breachText(first.finding, 300))}</p>
    ${
      others.length > 0 &&
      html`<p class="small">
        Probably the same cause:
        ${others.slice(0, maxNamedClauses).map((each) => clauseLink(each, anchorOf))}${
          others.length > maxNamedClauses && ` and ${others.length - maxNamedClauses} more`
        }
      </p>`
    }
    <p class="small muted">${textHtml(impactOfCause(cause))} ${findingCountText(group)}</p>
  </li>`;
}

const maxNamedClauses = 12;

const clauseLink = ({ group }: BrokenClause, anchorOf: AnchorOf): Html =>
  html`<a class="clause" href="#${anchorOf(group.distinctFindings[0].finding)}">${sanitizeLine(group.clause, 80)}</a> `;

const findingCountText = ({ findingCount }: BrokenClause["group"]): string =>
  findingCount > 1 ? `Found in ${findingCount} places.` : "";

function enablersSection(sections: readonly Section[]): Html {
  const needs: SharedCause[] = pickSections(sections, ["skipped"])
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.kind === "causes" && block.prefix !== "" ? block.causes : []));
  const shown = needs.slice(0, maxCausesShown);
  if (shown.length === 0) return html``;
  return pageSection(
    "fix",
    "Nothing to fix. What would prove more",
    html`<ol class="fixes">
      ${shown.map(
        ({ text, findings }) =>
          html`<li class="card">
            <p>${textHtml(text)}</p>
            <p class="small muted">Enables ${formatCount(findings.length, "check")}.</p>
          </li>`,
      )}
    </ol>`,
  );
}
