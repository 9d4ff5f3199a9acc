import { readFileSync } from "node:fs";
import { z } from "zod";
import { evidenceSchema } from "../../src/evidence/evidence.ts";
import { loadEvidenceSchema } from "../../src/evidence/load-evidence.ts";
import { scenarios } from "../../src/load/scenarios.ts";
import { gapsDocument } from "../../src/reference/gaps.ts";
import { comparisonSchema } from "../../src/report/compare/comparison.ts";
import { baselineSchema } from "../../src/report/model/failure-policy.ts";
import { reportSchema } from "../../src/report/model/report.ts";
import { attestationSchema } from "../../src/report/statement/attestation.ts";
import { envelopeSchema, keyListSchema } from "../../src/report/statement/signatures.ts";
import { policySchema } from "../../src/report/statement/policy-schema.ts";
import { statementSchema } from "../../src/report/statement/statement-schema.ts";
import { vendorsSchemaWith } from "../../src/report/vendors/vendor.ts";
import { agentConfigurationSchema } from "../../src/rules/configuration/schema.ts";
import { survivorsTable } from "../../src/selftest/mutants/survivors.ts";
import { wireSurvivorsTable } from "../../src/selftest/wire/survivors.ts";
import { thirdPartyTable } from "../../src/selftest/third-party/defects.ts";
import { targetFileSchema } from "../../src/target/target-file-schema.ts";
import { architecturePage } from "./architecture-page.ts";
import { clausesPage } from "./clauses-page.ts";
import { openRequirements, requirementsFile, requirementsPath } from "./requirements-files.ts";
import { k6Script, scenariosPage } from "./scenario-files.ts";
import { sensitivityTable } from "./sensitivity/results.ts";
import { traceabilityPage } from "./traceability-page.ts";

/** The JSON schemas in the package. `npm run docs` writes each schema to `schemas/NAME.schema.json`. */
const shippedSchemas = {
  target: { title: "Target file", schema: targetFileSchema },
  "agent-configuration": { title: "Agent configuration file", schema: agentConfigurationSchema },
  baseline: { title: "Baseline: the known failures of a target", schema: baselineSchema },
  report: { title: "report.json", schema: reportSchema },
  evidence: { title: "evidence.json", schema: evidenceSchema },
  "load-evidence": { title: "Load evidence", schema: loadEvidenceSchema },
  comparison: { title: "Comparison of two reports", schema: comparisonSchema },
  statement: { title: "Conformance statement", schema: statementSchema },
  "signed-statement": { title: "Signed conformance statement", schema: envelopeSchema },
  "statement-payload": { title: "Payload of a signed conformance statement", schema: attestationSchema },
  keys: { title: "A vendor's list of keys", schema: keyListSchema },
  policy: { title: "A buyer's policy on conformance statements", schema: policySchema },
  vendors: { title: "Vendors file", schema: vendorsSchemaWith(targetFileSchema) },
} as const satisfies Readonly<Record<string, { readonly title: string; readonly schema: z.ZodType }>>;

export type SchemaName = keyof typeof shippedSchemas;
export const schemaNames = Object.keys(shippedSchemas) as SchemaName[];

export function jsonSchemaOf(name: SchemaName): Readonly<Record<string, unknown>> {
  const { title, schema } = shippedSchemas[name];
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: "input" });
  return { $schema, title, ...rest };
}

const page = new URL("../../docs/trust.md", import.meta.url);
/** The tables that `npm run docs` writes into docs/trust.md. Each key is the text of the HTML comment above a table. */
const trustTables: Readonly<Record<string, () => string>> = {
  "mutants that live": survivorsTable,
  "mutants of behaviour that live": wireSurvivorsTable,
  "how small an excess is found": sensitivityTable,
  "what defects of another server turn red": thirdPartyTable,
};
const markedTable = /(<!-- ([a-z ]+) -->\n)[^]*?(\n<!-- end -->)/g;

const trustPage = (): string =>
  readFileSync(page, "utf8").replace(markedTable, (whole, start: string, name: string, end: string) => {
    const table = trustTables[name];
    return table === undefined ? whole : `${start}\n${table()}\n${end}`;
  });

/** The files that `npm run docs` writes, and the functions that make their texts. */
export const generated: ReadonlyMap<string, () => string> = new Map([
  ["docs/architecture.md", architecturePage],
  ["docs/clauses.md", clausesPage],
  ["docs/gaps.md", gapsDocument],
  ["docs/traceability.md", traceabilityPage],
  ["docs/trust.md", trustPage],
  ["scenarios/README.md", scenariosPage],
  ...openRequirements.map((each): [string, () => string] => [requirementsPath(each), () => requirementsFile(each)]),
  ...scenarios.map(({ name }): [string, () => string] => [`k6/${name}.ts`, () => k6Script(name)]),
  ...schemaNames.map((name): [string, () => string] => [
    `schemas/${name}.schema.json`,
    () => `${JSON.stringify(jsonSchemaOf(name), null, 2)}\n`,
  ]),
]);
