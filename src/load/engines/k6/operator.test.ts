import { readFileSync } from "node:fs";

import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";

import { scenarios } from "../../scenarios.ts";
import { burst } from "../../../../scenarios/burst.ts";
import { isObject } from "../../../base/json.ts";
import { publishedTiers } from "../../../spec/tiers.ts";
import { operatorManifest, type ManifestOptions } from "./operator.ts";

const parts: ManifestOptions = {
  baseUrl: "https://agents.example/v1",
  tier: "pro",
  limits: publishedTiers.pro,
  agents: { answering: "echo", streaming: null, slow: "sleeper", slowStreaming: null, failing: null },
  roleRequests: {},
  segments: 4,
  k6Version: "v2.2.0",
};

interface Manifest {
  readonly items: readonly [
    { readonly data: Readonly<Record<string, string>> },
    {
      readonly spec: {
        readonly script: { readonly configMap: { readonly file: string } };
        readonly runner: { readonly env: readonly unknown[] };
      };
    },
  ];
}

/** The operator's resource definition. A cluster silently drops unknown fields, but in this test they are errors. */
const definition = JSON.parse(
  readFileSync(new URL("testing/k6.io_testruns.json", import.meta.url), "utf8"),
  (name, value: unknown) =>
    name !== "properties" && isObject(value) && isObject(value["properties"]) && !("additionalProperties" in value)
      ? { ...value, additionalProperties: false }
      : value,
) as {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly [{ readonly name: string; readonly schema: { readonly openAPIV3Schema: object } }];
  };
};
const [version] = definition.spec.versions;
const isTestRun = new Ajv({ strict: false, validateFormats: false }).compile(version.schema.openAPIV3Schema);

const manifestOf = (scenario = burst) => JSON.parse(operatorManifest(scenario, parts)) as Manifest;

describe("a manifest for the k6-operator", () => {
  it("is a TestRun of the script in a ConfigMap", () => {
    expect(manifestOf()).toMatchObject({
      kind: "List",
      items: [
        { kind: "ConfigMap", metadata: { name: "conformance-burst" } },
        {
          apiVersion: "k6.io/v1alpha1",
          kind: "TestRun",
          spec: { parallelism: 4, script: { configMap: { name: "conformance-burst", file: "k6.burst.ts" } } },
        },
      ],
    });
  });

  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    "of %s is what the operator's own definition takes",
    (_, scenario) => {
      const [, run] = manifestOf(scenario).items;

      expect(run).toMatchObject({
        apiVersion: `${definition.spec.group}/${version.name}`,
        kind: definition.spec.names.kind,
      });
      expect(isTestRun(run) ? null : isTestRun.errors).toBeNull();
    },
  );

  it.each<[name: string, spoil: (spec: object) => object]>([
    ["a field that the operator does not know", (spec) => ({ ...spec, paralellism: 4 })],
    ["a number as text", (spec) => ({ ...spec, parallelism: "4" })],
    ["no script", (spec) => ({ ...spec, script: undefined })],
    ["a variable without a name", (spec) => ({ ...spec, runner: { env: [{ value: "x" }] } })],
  ])("would be refused with %s", (_, spoil) => {
    const [, run] = manifestOf().items;

    expect(isTestRun(JSON.parse(JSON.stringify({ ...run, spec: spoil(run.spec) })))).toBe(false);
  });

  it("takes keys from a Secret", () => {
    const { env } = manifestOf().items[1].spec.runner;

    expect(env).toContainEqual({
      name: "API_KEY",
      valueFrom: { secretKeyRef: { name: "conformance-keys", key: "main" } },
    });
    expect(env).toContainEqual({ name: "AGENT_SLOW", value: "sleeper" });
  });

  it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    "of %s has every file that a script imports",
    (_, scenario) => {
      const [{ data }, { spec }] = manifestOf(scenario).items;
      const imported = Object.values(data).flatMap((text) =>
        [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, path]) => path),
      );

      expect(Object.keys(data)).toContain(spec.script.configMap.file);
      expect(imported.filter((path) => path === undefined || !(path.slice(2) in data))).toStrictEqual([]);
      expect(Object.keys(data).every((name) => /^[-._a-zA-Z0-9]+$/.test(name))).toBe(true);
    },
  );
});
