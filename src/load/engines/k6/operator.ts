import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import type { Operation, Scenario } from "../../scenarios.ts";
import type { TierName } from "../../../spec/tiers.ts";
import { type EngineOptions, EngineProblem } from "../../engine.ts";
import { packageRoot } from "../../../base/package-root.ts";
import { scriptOf } from "./command.ts";
import { agentVariables } from "./variables.ts";

/** Options of a load that Kubernetes pods send. They contain no keys: the pods read keys from a Secret. */
export interface ManifestOptions extends Pick<
  EngineOptions,
  "baseUrl" | "limits" | "agents" | "roleRequests" | "segments"
> {
  readonly tier: TierName;
  readonly k6Version: string;
}

/** Names of the Kubernetes Secret with the API keys and of its entries. The user creates this Secret first. */
const keySecret = { name: "conformance-keys", main: "main", second: "second" } as const;

/** Maximum total size of a ConfigMap's file names and contents, in bytes. Kubernetes allows 1 MiB. */
const MAX_BYTES = 1_000_000;

export function operatorManifest(scenario: Scenario, options: ManifestOptions, root: string = packageRoot()): string {
  const script = scriptOf(scenario.name, root);
  const name = `conformance-${scenario.name}`;
  const items = [configMap(name, flattenFiles(script, root)), testRun(name, flatName(script, root), scenario, options)];
  return `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2)}\n`;
}

function configMap(name: string, data: Readonly<Record<string, string>>) {
  const bytes = Object.entries(data).reduce((sum, [file, text]) => sum + file.length + Buffer.byteLength(text), 0);
  if (bytes > MAX_BYTES)
    throw new EngineProblem(`The scripts of ${name} have ${bytes} bytes, and a ConfigMap takes ${MAX_BYTES}.`);
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

function testRun(name: string, file: string, scenario: Scenario, options: ManifestOptions) {
  return {
    apiVersion: "k6.io/v1alpha1",
    kind: "TestRun",
    metadata: { name },
    spec: {
      parallelism: options.segments,
      script: { configMap: { name, file } },
      // The pod's log becomes evidence. So k6 must show no progress, and must not decorate the script's lines.
      arguments: "--quiet --no-color --no-usage-report --no-thresholds --log-format raw",
      runner: { image: `grafana/k6:${options.k6Version.replace(/^v/, "")}`, env: environmentOf(scenario, options) },
    },
  };
}

function environmentOf(scenario: Scenario, options: ManifestOptions) {
  const plain = (name: string, value: string) => ({ name, value });
  const secret = (name: string, key: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: keySecret.name, key } },
  });
  const agents = Object.entries(options.agents).flatMap(([role, id]) =>
    id === null ? [] : [plain(agentVariables[role as Operation["agent"]], id)],
  );
  return [
    plain("BASE_URL", options.baseUrl),
    secret("API_KEY", keySecret.main),
    ...(scenario.needs.includes("keys.second") ? [secret("API_KEY_SECOND", keySecret.second)] : []),
    ...agents,
    plain("PLAYERS", JSON.stringify(options.roleRequests)),
    plain("TIER", options.tier),
    plain("LIMITS", JSON.stringify(options.limits)),
    plain("RECORD", "true"),
    plain("K6_AUTO_EXTENSION_RESOLUTION", "false"),
  ];
}

function flattenFiles(script: string, root: string): Record<string, string> {
  const files: Record<string, string> = {};
  const add = (path: string): void => {
    const name = flatName(path, root);
    if (name in files) return;
    const text = readFileSync(path, "utf8");
    const from = (specifier: string) => join(dirname(path), specifier);
    files[name] = text.replaceAll(relativeImport, (_, before: string, specifier: string) => {
      return `${before}"./${flatName(from(specifier), root)}"`;
    });
    for (const match of text.matchAll(relativeImport)) if (match[2] !== undefined) add(from(match[2]));
  };
  add(script);
  return files;
}

const relativeImport = /^((?:import|export|\}) .*?from |\} from )"(\.{1,2}\/[^"]+)"/gm;

const flatName = (path: string, root: string): string => relative(root, path).replaceAll(/[\\/]/g, ".");
