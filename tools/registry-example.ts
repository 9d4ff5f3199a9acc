// Writes examples/registry/vendors: a signed statement for each example vendor. Usage: `node tools/registry-example.ts
// [FOLDER FOR THE REPORTS]`.
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runAndReport } from "../src/app/judge/run-and-report.ts";
import { digestsOfSaved, saveRun } from "../src/app/report-folder/saved-report.ts";
import { libraryMessages } from "../src/library/scope.ts";
import { startEmbedded } from "../src/reference/embedded/embedded-server.ts";
import { patchesByName } from "../src/reference/catalogue.ts";
import { fault, faults, type Patch } from "../src/reference/patch.ts";
import { createKeyList, parseSigningKey } from "../src/report/statement/signatures.ts";
import { serializeSigned } from "../src/report/statement/attestation.ts";
import { statementOf } from "../src/report/statement/statement.ts";
import { newestRequirements } from "../src/spec/clause.ts";
import { suites } from "../src/suites/all.ts";
import type { Target } from "../src/target/target.ts";

interface ExampleVendor {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly patches: readonly Patch[];
  readonly offers: Target["offers"];
}

const coreAndStreaming: readonly Patch[] = faults("Endpoints", {
  "core-and-streaming": fault("USE-1", "Webhooks, alerts, operations and limits are missing.").by(() => ({
    servedPath: (path) => (/^\/v1\/(webhooks|alerts|operations|keys)\b|\/batch\b/.test(path) ? "/v1/nothing" : path),
    isLimited: () => false,
    takesSlot: () => false,
    rateHeaders: () => [],
  })),
});

const vendors: readonly ExampleVendor[] = [
  { folder: "acme", name: "Acme", version: "1.2.0", patches: [], offers: null },
  {
    folder: "borealis",
    name: "Borealis",
    version: "2.0.0",
    patches: patchesByName(["health-needs-no-key"], []),
    offers: null,
  },
  {
    folder: "cumulus",
    name: "Cumulus",
    version: "0.9.0",
    patches: coreAndStreaming,
    offers: ["core", "streaming"],
  },
];

/** Number of days until an example statement expires. The default of 90 days is too short for examples. */
const validDays = 3650;

const statements = new URL("../examples/registry/vendors/", import.meta.url).pathname;
const [, , reports] = process.argv;

for (const vendor of vendors) {
  const report = reports === undefined ? mkdtempSync(join(tmpdir(), "registry-")) : join(reports, vendor.folder);
  mkdirSync(report, { recursive: true });
  await writeStatement(vendor, report);
  if (reports === undefined) rmSync(report, { recursive: true });
}

async function writeStatement({ folder, name, version, patches, offers }: ExampleVendor, reportFolder: string) {
  const server = await startEmbedded(patches);
  const { report, evidence } = await runAndReport({
    target: { ...server.target, name, offers },
    suites,
    messages: libraryMessages,
    requirements: newestRequirements,
    signal: new AbortController().signal,
  });
  await server.close();
  saveRun(reportFolder, { report, evidence });
  const digests = digestsOfSaved(reportFolder, { report, evidence, load: new Map() });

  const { privateKey } = generateKeyPairSync("ed25519");
  const key = parseSigningKey(String(privateKey.export({ type: "pkcs8", format: "pem" })));
  if (key.kind === "problem") throw new Error(key.problem);
  const place = join(statements, folder);
  mkdirSync(place, { recursive: true });
  const signing = { key: key.value, validDays };
  writeFileSync(join(place, `${version}.json`), serializeSigned(statementOf({ report }, digests), signing));
  writeFileSync(
    join(place, "keys.json"),
    `${JSON.stringify(createKeyList(name, [createPublicKey(privateKey)]), null, 2)}\n`,
  );
  process.stdout.write(`${name}: ${report.verdict}\n`);
}
