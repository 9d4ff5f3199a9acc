import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";

import { jsonSchemaOf, schemaNames, type SchemaName } from "./generated.ts";
import { evidenceOf, sample } from "../../src/load/testing/samples.ts";
import { compareReports } from "../../src/report/compare/compare-reports.ts";
import { defaultRegressionRules } from "../../src/report/compare/regression-rules.ts";
import { serializeEvidence, serializeReport } from "../../src/report/model/report-file.ts";
import {
  sampleDelivery,
  sampleExchange,
  sampleFinding,
  sampleLoadRun,
  sampleReport,
} from "../../src/report/testing/sample.ts";
import { attestationOf } from "../../src/report/statement/attestation.ts";
import { statementOf } from "../../src/report/statement/statement.ts";

interface Sample {
  readonly name: SchemaName;
  readonly accepts: readonly unknown[];
  readonly refuses: readonly unknown[];
}

const comparison = compareReports(
  {
    report: sampleReport([sampleFinding(), sampleFinding({ clause: "SSE-6" })], { load: { runs: [sampleLoadRun()] } }),
  },
  { report: sampleReport([sampleFinding({ outcome: "fail" })], { load: { runs: [sampleLoadRun()] } }) },
  defaultRegressionRules,
);

const agentFile = {
  agent_name: "Weather bot",
  framework: "plain",
  version: "1.0.0",
  agent_architecture: { entrypoints: [{ file: "main.py", module: "answer", tag: "answer" }] },
};

const attestation = attestationOf(statementOf({ report: sampleReport([]) }, {}), {
  subjects: [{ name: "app", digest: { sha256: "a".repeat(64) } }],
  expires: "2030-04-01T00:00:00.000Z",
});
const envelope = {
  payloadType: "application/vnd.in-toto+json",
  payload: "e30=",
  signatures: [{ keyid: "00", sig: "AAAA" }],
};

/** For each schema of the package: values that it must accept, and values that it must reject. */
const samples: readonly Sample[] = [
  {
    name: "target",
    accepts: [
      { baseUrl: "https://api.acme.example/v1", keys: { free: { key: "${ACME_FREE}", tier: "free" } } },
      {
        $schema: "./target.schema.json",
        name: "Acme staging",
        baseUrl: "https://api.acme.example",
        keys: { expired: { key: "k", expired: true }, temporary: { key: "k", tier: "own", expiresInSeconds: 600 } },
        agents: { answering: "echo", failingInStream: "breaker" },
        tiers: { own: { perHour: 10, perMinute: 5, concurrent: 1, burst: null } },
        clock: { advance: { method: "POST", url: "https://acme.example/clock", body: { seconds: "${seconds}" } } },
        signing: { secret: "${ACME_SIGNING}" },
      },
    ],
    refuses: [
      {},
      { baseUrl: "https://acme.example", keys: { free: { key: "k", teir: "free" } } },
      { baseUrl: "https://acme.example", keys: { free: { key: "k" } }, agents: { sleepy: "a" } },
      { baseUrl: "https://acme.example", keys: { free: { key: "k" } }, tiers: { own: { perHour: 0 } } },
    ],
  },
  {
    name: "agent-configuration",
    accepts: [
      agentFile,
      {
        ...agentFile,
        colour: "blue",
        description: null,
        created_at: "2026-01-05T08:00:00.5",
        env_vars: { UNIT: "celsius" },
        deployment: { timeout: 45.5, memory: "1GB" },
        webhooks: { endpoints: [{ url: "https://hooks.example/in", events: ["agent.*", "deployment.created"] }] },
      },
    ],
    refuses: [
      {},
      [],
      { ...agentFile, version: 1 },
      { ...agentFile, agent_architecture: {} },
      { ...agentFile, agent_architecture: { entrypoints: [{ file: "main.py" }] } },
      { ...agentFile, created_at: "2026-01-05T08:00:00Z" },
      { ...agentFile, env_vars: { PORT: 8080 } },
      { ...agentFile, deployment: { memory: "512" } },
      { ...agentFile, webhooks: { endpoints: [{ url: "https://hooks.example/in", events: ["agent.done"] }] } },
      { ...agentFile, webhooks: { endpoints: [{ url: "https://hooks.example/in", headers: { "a b": "c" } }] } },
    ],
  },
  {
    name: "report",
    accepts: [
      JSON.parse(serializeReport(sampleReport([]))) as unknown,
      JSON.parse(
        serializeReport(
          sampleReport(
            [sampleFinding({ outcome: "fail", instance: "free", expected: "a", actual: "b", evidence: ["x1"] })],
            {
              verdict: "nonconformant",
              stopped: "interrupted",
              created: [{ kind: "alert", id: null, key: "pro", at: "2030-01-01T00:00:01.000Z", exchange: "x1" }],
              untestable: [{ clause: "CFG-1", level: "policy", reason: "a file" }],
            },
          ),
        ),
      ) as unknown,
      sampleReport(
        [sampleFinding({ clause: "load/slow-refusals", level: "load", outcome: "fail", witness: ["one"] })],
        {
          load: { runs: [sampleLoadRun()] },
        },
      ),
    ],
    refuses: [
      {},
      { ...sampleReport([]), load: { runs: [{ ...sampleLoadRun(), requests: { sent: 1 } }] } },
      { ...sampleReport([]), format: "agent-hosting-conformance/report/2" },
      { ...sampleReport([]), verdict: "fine" },
      { ...sampleReport([]), totals: { pass: 1 } },
      { ...sampleReport([]), findings: [{ check: "SSE-5" }] },
      { ...sampleReport([]), created: [{ kind: "key", id: null, key: null, at: "now", exchange: "x1" }] },
    ],
  },
  {
    name: "evidence",
    accepts: [
      JSON.parse(
        serializeEvidence({
          exchanges: [
            sampleExchange("x1"),
            sampleExchange("x2", {}, { kind: "unanswered", reason: "silent", detail: "no head", endMs: 4 }),
            sampleExchange(
              "x3",
              {},
              {
                body: { kind: "cut", head: "a", tail: "b", bytes: 300_000, sha256: "00" },
                ending: { kind: "broken", detail: "reset" },
                events: [{ name: null, data: "{}", atMs: 12 }],
              },
            ),
          ],
          deliveries: [
            sampleDelivery("d1"),
            sampleDelivery("d2", { computedSignature: null, reply: { kind: "endless", status: 200, leftMs: null } }),
          ],
          probes: [
            {
              probe: "a",
              instance: null,
              result: { kind: "ran", evidence: { first: sampleExchange("x1"), count: 3 } },
            },
            { probe: "b", instance: "free", result: { kind: "skipped", reason: "no agent", needs: null } },
            { probe: "c", instance: null, result: { kind: "broken", error: "TypeError" } },
          ],
        }),
      ) as unknown,
    ],
    refuses: [
      {},
      { format: "agent-hosting-conformance/evidence/1", exchanges: { x1: { id: "x1" } }, probes: [] },
      { format: "agent-hosting-conformance/evidence/1", exchanges: {}, probes: [{ probe: "a" }] },
      { format: "agent-hosting-conformance/evidence/1", exchanges: {}, deliveries: { d1: {} }, probes: [] },
    ],
  },
  {
    name: "load-evidence",
    accepts: [
      evidenceOf([sample(), sample({ status: null, left: true })]),
      evidenceOf([], {
        tier: null,
        ledger: { before: null, after: {} },
        server: { rssBytes: [1] },
        stopped: "interrupted",
      }),
    ],
    refuses: [
      {},
      { ...evidenceOf([]), engine: "wrk" },
      { ...evidenceOf([]), requests: [{ flow: "a" }] },
      { ...evidenceOf([]), segments: "0:1" },
    ],
  },
  {
    name: "comparison",
    accepts: [comparison, JSON.parse(JSON.stringify(comparison)) as unknown],
    refuses: [
      {},
      { ...comparison, format: "agent-hosting-conformance/comparison/2" },
      { ...comparison, gone: [{ check: "SSE-5" }] },
      { ...comparison, regressions: [{ kind: "bad luck", says: "", finding: null }] },
    ],
  },
  {
    name: "statement",
    accepts: [
      statementOf({ report: sampleReport([sampleFinding({ outcome: "fail", expected: "a", actual: "b" })]) }, {}),
      statementOf({ report: sampleReport([], { load: { runs: [sampleLoadRun()] } }) }, {}),
    ],
    refuses: [
      {},
      { ...statementOf({ report: sampleReport([]) }, {}), format: "agent-hosting-conformance/statement/2" },
      { ...statementOf({ report: sampleReport([]) }, {}), seal: "of approval" },
    ],
  },
  {
    name: "signed-statement",
    accepts: [envelope],
    refuses: [
      {},
      { ...envelope, payloadType: "text/plain" },
      { ...envelope, signatures: [] },
      { ...envelope, seal: "of approval" },
    ],
  },
  {
    name: "statement-payload",
    accepts: [attestation],
    refuses: [
      {},
      { ...attestation, _type: "https://in-toto.io/Statement/v0.1" },
      { ...attestation, subject: [] },
      { ...attestation, predicate: { ...attestation.predicate, result: "GREEN" } },
      { ...attestation, predicate: { ...attestation.predicate, seal: "of approval" } },
    ],
  },
  {
    name: "baseline",
    accepts: [
      { known: [] },
      { known: [{ check: "SSE-5", instance: "free", reason: "fixed in 2.3", until: "2026-12-31", flaky: true }] },
    ],
    refuses: [{}, { known: [{ check: "SSE-5" }] }, { known: [{ check: "SSE-5", reason: "x", until: "soon" }] }],
  },
  {
    name: "keys",
    accepts: [
      { $schema: "./keys.schema.json", vendor: "Acme", keys: [{ keyid: "00", pem: "-----BEGIN PUBLIC KEY-----" }] },
      { vendor: "Acme", keys: [{ keyid: "00", name: "CI", jwk: { kty: "OKP" }, revoked: "2026-05-01" }] },
    ],
    refuses: [
      {},
      { vendor: "Acme", keys: [] },
      { vendor: "", keys: [{ keyid: "00" }] },
      { vendor: "Acme", keys: [{ pem: "-----BEGIN PUBLIC KEY-----" }] },
      { vendor: "Acme", keys: [{ keyid: "00", revoekd: "2026-05-01" }] },
    ],
  },
  {
    name: "policy",
    accepts: [
      { unsigned: true },
      {
        $schema: "./policy.schema.json",
        signers: [{ keys: "https://acme.example/keys.json" }, { keyid: "00" }],
        party: "server",
        baseUrl: "https://api.acme.example/v1",
        subjects: ["app=sha256:00"],
        verdicts: ["conformant", "partial"],
        exceptions: [{ check: "SSE-5", until: "2026-12-31", reason: "fixed in 2.3" }],
        requirements: "1.1",
        maxAgeDays: 30,
        tiers: ["free"],
        profiles: ["core"],
        readings: { must: { "ERR-2": "form-a" }, mustNot: { "LIM-4": ["sliding", "fixed"] } },
        excessPercent: 5,
        report: true,
        optional: ["profiles", "excessPercent"],
      },
    ],
    refuses: [
      { signers: [] },
      { unsigned: true, verdicts: ["nonconformant"] },
      { unsigned: true, requirements: 1.1 },
      { unsigned: true, exceptions: [{ check: "SSE-5", reason: "no date" }] },
      { unsigned: true, optional: ["signers"] },
      { unsigned: true, maxAge: "30d" },
    ],
  },
  {
    name: "vendors",
    accepts: [
      {
        $schema: "./vendors.schema.json",
        vendors: [{ name: "Acme", target: "acme.json", load: "reports/acme-load" }],
      },
      {
        vendors: [
          { name: "Borealis", target: { baseUrl: "https://api.borealis.example", keys: { pro: { key: "${PRO}" } } } },
          {
            name: "Cirrus",
            target: {
              baseUrl: "https://api.cirrus.example",
              control: { url: "https://api.cirrus.example/test-control", token: "${CIRRUS}" },
            },
          },
          { name: "Acme, last month", report: "reports/acme" },
        ],
      },
    ],
    refuses: [
      {},
      { vendors: [] },
      { vendors: [{ name: "Acme" }] },
      { vendors: [{ name: "Acme", target: "acme.json", report: "reports/acme" }] },
      { vendors: [{ target: "acme.json" }] },
      { vendors: [{ name: "Acme", target: { keys: { main: { key: "k" } } } }] },
    ],
  },
];

it("has samples of every schema that is shipped", () => {
  expect(samples.map(({ name }) => name).toSorted()).toEqual(schemaNames.toSorted());
});

describe.each(samples)("the shipped schema $name", ({ name, accepts, refuses }) => {
  // Formats are for editors, which show them to people. The harness itself checks addresses in another way.
  const validate = new Ajv2020({ validateFormats: false, allowUnionTypes: true }).compile(jsonSchemaOf(name));

  it.each(accepts.map((data, at) => ({ at, data })))("accepts what is right ($at)", ({ data }) => {
    expect(validate(data) ? null : validate.errors).toBeNull();
  });

  it.each(refuses.map((data, at) => ({ at, data })))("refuses what is wrong ($at)", ({ data }) => {
    expect(validate(data)).toBe(false);
  });
});
