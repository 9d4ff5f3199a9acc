import { type ClauseId, clauseIds, clauseOf } from "../../src/spec/clauses.ts";
import { type Check, probesOf } from "../../src/run/judge/check.ts";
import { allSuites } from "../../src/suites/all.ts";

export function clausesPage(): string {
  const sections = new Map<string, ClauseId[]>();
  for (const id of clauseIds) {
    const [heading = ""] = clauseOf(id).section.split(" / ");
    const title = heading.replace(/ \d+$/, "");
    sections.set(title, [...(sections.get(title) ?? []), id]);
  }
  const parts = [...sections].map(([title, ids]) => [`## ${title}`, "", ...table(ids), ""].join("\n"));
  return `${[intro, ...parts].join("\n").trimEnd()}\n`;
}

const intro = `# Clauses

Every statement of the interface document that a server could break, or that a client must know, is a clause. Ids are stable:
they are never reused and never renumbered. \`conformance explain ID\` shows one with its probes and faults.

Levels: **must** (stated; a breach fails the run), **should** (advised; a warning), **advisory** (a field's plain meaning; a note),
**gap** (the document is silent; observed, never judged), **policy** (a promise that no request can show). The **party** is whom a clause
binds; **since** is the requirement set in which it first counts.

This page is generated from \`src/spec/clauses\` and \`src/suites\` by \`npm run docs\`.
`;

function table(ids: readonly ClauseId[]): string[] {
  const rows = ids.map((id) => {
    const { section, level, party, since, says, readings } = clauseOf(id);
    const read =
      readings === undefined
        ? ""
        : `<br>Readings: ${Object.entries(readings)
            .map(([name, is]) => `*${name}* (${is})`)
            .join("; ")}.`;
    return `| ${id} | ${level} | ${party} | ${since} | ${cell(section)} | ${cell(says)}${cell(read)} | ${cell(coverage(id))} |`;
  });
  return ["| clause | level | party | since | where | says | covered by |", "|---|---|---|---|---|---|---|", ...rows];
}

const cell = (text: string): string => text.replaceAll("|", "\\|");

function coverage(id: ClauseId): string {
  const { untestable } = clauseOf(id);
  if (untestable !== undefined) return `not testable: ${untestable}`;
  const all = allSuites.flatMap((suite) => suite.checks.filter(({ clause }) => clause === id));
  const repetitionsOf = (check: Check): Check[] =>
    all.filter(({ widens }) => widens === check).flatMap((each) => [each, ...repetitionsOf(each)]);
  const alsoOn = (check: Check): string => {
    const sets = repetitionsOf(check).map(({ since }) => since);
    return sets.length === 0 ? "" : ` (also on requests of ${sets.join(" and ")})`;
  };
  const lines = all
    .filter(({ widens }) => widens === undefined)
    .map(
      (check) =>
        `\`${check.id}\`${alsoOn(check)}${check.since === clauseOf(id).since ? "" : ` (since ${check.since})`} on ${Object.values(
          probesOf(check.on),
        )
          .map(({ name }) => `“${name}”`)
          .join(", ")}`,
    );
  return lines.length > 0 ? lines.join("<br>") : "**nothing**";
}
