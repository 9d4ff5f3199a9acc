import { limitResult } from "../model/proven-limits.ts";
import { formatCount } from "../../base/text.ts";
import { firstRequirements } from "../../spec/requirements.ts";
import { baseStyle } from "../html/base-style.ts";
import { outcomeBadge, numberTiles, numberColumnHead, prose, renderTable } from "../html/elements.ts";
import { type Html, html } from "../html/markup.ts";
import { renderPage } from "../html/page.ts";
import { verdictTexts } from "../html/sections/verdict.ts";
import type { Subject } from "./attestation.ts";
import type { Statement, StatementException } from "./statement-schema.ts";

/** The signature of a statement, as its page shows it: key, deployed things and expiry. */
export interface PageSignature {
  readonly keyId: string;
  readonly subjects: readonly Subject[];
  /** Time after which nobody should rely on the statement, ISO 8601. */
  readonly expires: string;
}

/**
 * Renders a statement as one HTML page for people, without scripts.
 *
 * @param signature `null` if the statement is unsigned
 * @param standing reasons why the statement no longer counts
 */
export function renderStatementPage(
  statement: Statement,
  signature: PageSignature | null,
  standing: readonly string[] = [],
): string {
  const { target, verdict, kind, counts, suite, finished } = statement;
  const { word, tone, says } = verdictTexts[verdict];
  return renderPage({
    title: `Conformance statement: ${target.name}`,
    styles: [baseStyle],
    script: null,
    body: html`<main>
      <header>
        <p class="muted">Conformance statement, by ${kind === "load" ? "load scenarios" : "the suites"}</p>
        <h1>${prose(target.name, 120)}</h1>
        <p><code>${target.baseUrl}</code></p>
      </header>
      ${
        standing.length > 0 &&
        html`<div class="banner warning">
          <p class="word">No longer counts: ${standing.join("; ")}</p>
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
      <footer>
        Made by agent-hosting-conformance ${suite.version}, of a run that ended on ${formatDay(finished)}.
      </footer>
    </main>`,
  });
}

function profilesSection({ profiles = [] }: Statement): Html | null {
  if (profiles.length === 0) return null;
  const rows = profiles.map(
    ({ profile, verdict, musts, exercised }) =>
      html`<tr>
        <th scope="row">${profile}</th>
        <td>${verdict}</td>
        <td class="number">${exercised} of ${musts}</td>
      </tr>`,
  );
  return html`<section aria-labelledby="profiles">
    <h2 id="profiles">Verdict by profile</h2>
    ${renderTable("Profiles", ["Profile", "Verdict", numberColumnHead("Must clauses exercised")], rows)}
  </section>`;
}

const formatDay = (time: string): string => time.slice(0, 10);

function factsSection(
  { finished, suite, target, pairs, limits = [] }: Statement,
  signature: PageSignature | null,
): Html {
  const facts: readonly (readonly [string, string])[] = [
    ["The run ended", formatDay(finished)],
    ["Counts until", signature === null ? "not stated" : formatDay(signature.expires)],
    ["Signed with the key", signature === null ? "nobody signed this statement" : signature.keyId],
    ...(signature?.subjects ?? []).map(({ name, digest }): [string, string] => [
      "About",
      `${name}: ${formatDigest(digest)}`,
    ]),
    ["Requirement set", suite.requirements ?? firstRequirements],
    ["Version of the suites", suite.version],
    ["Tiers of the keys in use", target.tiers.join(", ") || "unknown"],
    ...(pairs === undefined
      ? []
      : [["Pairs of properties", `${pairs.covered} of ${pairs.reachable} within reach`] as const]),
    ...limits.map((limit) => [`Rate limit of ${limit.tier}`, `${limit.window}: ${limitResult(limit)}`] as const),
  ];
  return html`<section aria-labelledby="facts">
    <h2 id="facts">Who, what and when</h2>
    ${renderTable(
      "Facts",
      ["Fact", "Value"],
      facts.map(
        ([name, value]) =>
          html`<tr>
            <th scope="row">${name}</th>
            <td>${prose(value, 200)}</td>
          </tr>`,
      ),
    )}
  </section>`;
}

const formatDigest = (digest: Subject["digest"]): string =>
  Object.entries(digest)
    .map(([algorithm, hex]) => `${algorithm}:${hex}`)
    .join(", ");

function exceptionsSection(exceptions: readonly StatementException[]): Html {
  const rows = exceptions.map(
    ({ check, outcome, instances = [], expected, actual, reason }) =>
      html`<tr>
        <th scope="row">${prose(check, 100)}</th>
        <td>${outcomeBadge(outcome)}</td>
        <td>
          ${prose([reason, expected && `Expected ${expected}.`, actual && `Found ${actual}`].filter(Boolean).join(" "))}
        </td>
        <td>${prose(instances.join(", "), 100)}</td>
      </tr>`,
  );
  return html`<section aria-labelledby="exceptions">
    <h2 id="exceptions">${exceptions.length === 0 ? "No exceptions" : formatCount(exceptions.length, "exception")}</h2>
    ${exceptions.length > 0 && renderTable("Exceptions", ["Check", "Outcome", "Finding", "Where"], rows)}
  </section>`;
}

/** Maximum number of unexercised clauses to name. Of further ones, the page shows only the number. */
const maxNamedClauses = 60;

function unexercisedSection({ notExercised, unselected }: Statement): Html | null {
  const clauses = [...notExercised.map(({ clause }) => clause), ...unselected];
  if (clauses.length === 0) return null;
  const hidden = clauses.length - maxNamedClauses;
  return html`<section aria-labelledby="gaps">
    <h2 id="gaps">${formatCount(clauses.length, "clause")} not exercised</h2>
    <p>${prose(clauses.slice(0, maxNamedClauses).join(", "), 2000)}${hidden > 0 && ` and ${hidden} more`}</p>
  </section>`;
}

const verifySection = (signature: PageSignature | null): Html =>
  html`<section aria-labelledby="verify">
    <h2 id="verify">How to verify it</h2>
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
  </section>`;
