import { formatLimitVerdict } from "../model/profiles.ts";
import { formatCount } from "../../base/text.ts";
import { firstRequirementSet } from "../../spec/clause.ts";
import { outcomeBadge, numberTiles, prose, renderTable, numberColumn, pageSection } from "../html/elements.ts";
import { type Html, html } from "../html/markup.ts";
import { renderPage } from "../html/page.ts";
import { verdictTexts } from "../html/sections/verdict.ts";
import type { Subject, PageSignature } from "./attestation.ts";
import type { Statement, StatementException } from "./statement-schema.ts";
import { dayOf } from "../../base/duration.ts";

/**
 * Renders a statement as an HTML page. `reasonsNotCurrent` says why the statement no longer counts, for example that it
 * has expired.
 */
export function renderStatementPage(
  statement: Statement,
  signature: PageSignature | null,
  reasonsNotCurrent: readonly string[] = [],
): string {
  const { target, verdict, kind, counts, suite, finished } = statement;
  const { word, tone, says } = verdictTexts[verdict];
  return renderPage({
    title: `Conformance statement: ${target.name}`,
    body: html`<main>
      <header>
        <p class="muted">Conformance statement, by ${kind === "load" ? "load scenarios" : "the suites"}</p>
        <h1>${prose(target.name, 120)}</h1>
        <p><code>${target.baseUrl}</code></p>
      </header>
      ${
        reasonsNotCurrent.length > 0 &&
        html`<div class="banner warning">
          <p class="word">No longer counts: ${reasonsNotCurrent.join("; ")}</p>
        </div>`
      }
      <div class="banner ${tone}">
        <p class="word">${word}</p>
        <p>${says}</p>
      </div>
      ${numberTiles([
        ["clauses passed", String(counts.clauses.passed)],
        ["clauses broken", String(counts.clauses.broken)],
        ["with a warning", String(counts.clauses.warned)],
        ["not exercised", String(statement.notExercised.length + statement.unselected.length)],
      ])}
      ${profilesSection(statement)} ${factsSection(statement, signature)} ${exceptionsSection(statement.exceptions)}
      ${unexercisedSection(statement)} ${verifySection(signature)}
      <footer>Made by agent-hosting-conformance ${suite.version}, of a run that ended on ${dayOf(finished)}.</footer>
    </main>`,
  });
}

function profilesSection({ profiles = [] }: Statement): Html | null {
  if (profiles.length === 0) return null;
  const rows = profiles.map(({ profile, verdict, musts, exercised }) => [profile, verdict, `${exercised} of ${musts}`]);
  const columns = ["Profile", "Verdict", numberColumn("Must clauses exercised")];
  return pageSection("profiles", "Verdict by profile", renderTable("Profiles", columns, rows));
}

function factsSection(
  { finished, suite, target, pairs, limits = [] }: Statement,
  signature: PageSignature | null,
): Html {
  const facts: readonly (readonly [string, string])[] = [
    ["The run ended", dayOf(finished)],
    ["Counts until", signature === null ? "not stated" : dayOf(signature.expires)],
    ["Signed with the key", signature === null ? "nobody signed this statement" : signature.keyId],
    ...(signature?.subjects ?? []).map(({ name, digest }): [string, string] => [
      "About",
      `${name}: ${formatDigest(digest)}`,
    ]),
    ["Requirement set", suite.requirements ?? firstRequirementSet],
    ["Version of the suites", suite.version],
    ["Tiers of the keys in use", target.tiers.join(", ") || "unknown"],
    ...(pairs === undefined
      ? []
      : [["Pairs of properties", `${pairs.covered} of ${pairs.reachable} within reach`] as const]),
    ...limits.map((limit) => [`Rate limit of ${limit.tier}`, `${limit.window}: ${formatLimitVerdict(limit)}`] as const),
  ];
  const rows = facts.map(([name, value]) => [name, prose(value, 200)]);
  return pageSection("facts", "Who, what and when", renderTable("Facts", ["Fact", "Value"], rows));
}

const formatDigest = (digest: Subject["digest"]): string =>
  Object.entries(digest)
    .map(([algorithm, hex]) => `${algorithm}:${hex}`)
    .join(", ");

function exceptionsSection(exceptions: readonly StatementException[]): Html {
  const rows = exceptions.map(({ check, outcome, instances = [], expected, actual, reason }) => [
    prose(check, 100),
    outcomeBadge(outcome),
    prose([reason, expected && `Expected ${expected}.`, actual && `Found ${actual}`].filter(Boolean).join(" ")),
    prose(instances.join(", "), 100),
  ]);
  return pageSection(
    "exceptions",
    exceptions.length === 0 ? "No exceptions" : formatCount(exceptions.length, "exception"),
    exceptions.length > 0 && renderTable("Exceptions", ["Check", "Outcome", "Finding", "Where"], rows),
  );
}

const maxNamedClauses = 60;

function unexercisedSection({ notExercised, unselected }: Statement): Html | null {
  const clauses = [...notExercised.map(({ clause }) => clause), ...unselected];
  if (clauses.length === 0) return null;
  const hidden = clauses.length - maxNamedClauses;
  return pageSection(
    "gaps",
    `${formatCount(clauses.length, "clause")} not exercised`,
    html`<p>${prose(clauses.slice(0, maxNamedClauses).join(", "), 2000)}${hidden > 0 && ` and ${hidden} more`}</p>`,
  );
}

const verifySection = (signature: PageSignature | null): Html =>
  pageSection(
    "verify",
    "How to verify it",
    html`
      <p>This page proves nothing by itself. Take the statement's file, and check it:</p>
      <pre
        tabindex="0"
      ><code>npx agent-hosting-conformance verify statement.json ${signature === null ? "REPORT" : "--keys https://…/conformance-keys.json"}</code></pre>
      <p>
        ${
          signature === null
            ? "REPORT is the folder of the report, with its evidence. The statement is unsigned, so anybody may have written it."
            : "Take the list of keys from the vendor's own address. With the folder of the report as well, the evidence is judged again."
        }
      </p>
    `,
  );
