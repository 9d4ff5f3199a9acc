import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import type { Operation, Scenario } from "../../scenarios.ts";
import type { TierLimits, TierName } from "../../../spec/tiers.ts";
import { type RoleRequest, EngineProblem } from "../../engine.ts";
import { packageRoot } from "../../../base/package-root.ts";
import { scriptOf } from "./command.ts";
import { agentVariables } from "./variables.ts";

/** What a run on many machines is told. Keys are not in it: pods take them from a Secret. */
export interface ManifestOptions {
  readonly baseUrl: string;
  readonly tier: TierName;
  readonly limits: TierLimits;
  readonly agents: Readonly<Record<Operation["agent"], string | null>>;
  readonly players: Readonly<Partial<Record<Operation["agent"], RoleRequest>>>;
  /** Pods that share the load. */
  readonly segments: number;
  /** `v2.2.0`: the version of k6 that the pods run. */
  readonly k6Version: string;
}

/** Name of the Secret, and of what it holds, that whoever applies the manifest makes first. */
export const keySecret = { name: "conformance-keys", main: "main", second: "second" } as const;

/** Kubernetes takes a megabyte in a ConfigMap, names and all. */
const MOST_BYTES = 1_000_000;

/**
 * The manifest of a run by the k6-operator: a ConfigMap with the script, and a TestRun of it. JSON, which `kubectl apply -f` takes like YAML.
 *
 * A ConfigMap has no folders. So the script and what it imports stand side by side, their folders in their names, and the imports say so;
 * otherwise the files are as they are in the package, to be read and compared.
 */
export function operatorManifest(scenario: Scenario, parts: ManifestOptions, root: string = packageRoot()): string {
  const script = scriptOf(scenario.name, root);
  const name = `conformance-${scenario.name}`;
  const items = [configMap(name, flattened(script, root)), testRun(name, flatName(script, root), scenario, parts)];
  return `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2)}\n`;
}

function configMap(name: string, data: Readonly<Record<string, string>>) {
  const bytes = Object.entries(data).reduce((sum, [file, text]) => sum + file.length + Buffer.byteLength(text), 0);
  if (bytes > MOST_BYTES)
    throw new EngineProblem(`The scripts of ${name} have ${bytes} bytes, and a ConfigMap takes ${MOST_BYTES}.`);
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

function testRun(name: string, file: string, scenario: Scenario, parts: ManifestOptions) {
  return {
    apiVersion: "k6.io/v1alpha1",
    kind: "TestRun",
    metadata: { name },
    spec: {
      parallelism: parts.segments,
      script: { configMap: { name, file } },
      // A pod's log is its evidence: nothing but the lines of the script, and k6's own words.
      arguments: "--quiet --no-color --no-usage-report --no-thresholds --log-format raw",
      runner: { image: `grafana/k6:${parts.k6Version.replace(/^v/, "")}`, env: environmentOf(scenario, parts) },
    },
  };
}

function environmentOf(scenario: Scenario, parts: ManifestOptions) {
  const plain = (name: string, value: string) => ({ name, value });
  const secret = (name: string, key: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: keySecret.name, key } },
  });
  const agents = Object.entries(parts.agents).flatMap(([role, id]) =>
    id === null ? [] : [plain(agentVariables[role as Operation["agent"]], id)],
  );
  return [
    plain("BASE_URL", parts.baseUrl),
    secret("API_KEY", keySecret.main),
    ...(scenario.needs.includes("keys.second") ? [secret("API_KEY_SECOND", keySecret.second)] : []),
    ...agents,
    plain("PLAYERS", JSON.stringify(parts.players)),
    plain("TIER", parts.tier),
    plain("LIMITS", JSON.stringify(parts.limits)),
    plain("RECORD", "true"),
    plain("K6_AUTO_EXTENSION_RESOLUTION", "false"),
  ];
}

/** The script and all that it imports, by flat name. */
function flattened(script: string, root: string): Record<string, string> {
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

/** An import or a re-export of a file of ours. */
const relativeImport = /^((?:import|export|\}) .*?from |\} from )"(\.{1,2}\/[^"]+)"/gm;

/** `k6/lib/sse.ts` becomes `k6.engine.sse.ts`. */
const flatName = (path: string, root: string): string => relative(root, path).replaceAll(/[\\/]/g, ".");
