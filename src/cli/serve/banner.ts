import type { Reference } from "../../reference/reference.ts";
import { controlTokenHeader } from "../../reference/server/control.ts";
import type { HostedAgent } from "../../app/serve/agent-files.ts";
import type { ControlToken } from "./serve-options.ts";

/** Facts that the banner shows in addition to the server. */
export interface BannerFacts {
  readonly patches: readonly string[];
  readonly hosted: readonly HostedAgent[];
  readonly control: ControlToken;
  /** Path of the target file that was written; `null` if none was. */
  readonly targetFile: string | null;
}

/** Returns the first output of `conformance serve`: all that the author of a client needs to start. */
export function banner(reference: Reference, { patches, hosted, control, targetFile }: BannerFacts): string {
  const { baseUrl, keys, agents, auth } = reference;
  const at = (path: string): string => new URL(path, baseUrl).href;
  const main = keys.find(({ name }) => name === "enterprise") ?? keys[0];
  const isSecure = baseUrl.startsWith("https:");
  return [
    `Agent Hosting Service Interface, reference server${patches.length === 0 ? "" : ` with ${patches.join(", ")}`}`,
    "",
    // The interface document uses this word for an agent that has started locally.
    "status    ready",
    `base URL  ${baseUrl}`,
    `OpenAPI   ${at("/openapi.json")}`,
    "",
    auth === "none" ? "keys (none is needed: auth_settings.type is none)" : "keys",
    ...keys.map(({ name, key, tier }) => `  ${name.padEnd(12)}${tier.padEnd(12)}${key}`),
    "",
    "agents",
    ...Object.entries(agents).map(([role, id]) => `  ${role.padEnd(21)}${id}`),
    ...hosted.map(({ id, path }) => `  ${"from a file".padEnd(21)}${id}  (${path})`),
    "",
    "requests are signed with",
    `  ${reference.signingSecret}`,
    "",
    ...controlLines(reference, control, at),
    `curl ${isSecure ? "-k " : ""}-H "Authorization: Bearer ${main?.key ?? ""}" -H "Content-Type: application/json" -d '{"query":"hello"}' ${baseUrl}/agents/echo/invoke`,
    targetFile === null
      ? `conformance run --base-url ${baseUrl} --api-key ${main?.key ?? ""}`
      : `conformance run --target ${targetFile}`,
    "",
    "Ctrl-C stops it.",
    "",
  ].join("\n");
}

function controlLines(
  { hasVirtualClock }: Reference,
  { token, isGenerated }: ControlToken,
  at: (path: string) => string,
): readonly string[] {
  const rows: readonly (readonly [string, string])[] = [
    ...(hasVirtualClock ? ([["/clock/advance", '{"seconds":60}']] as const) : []),
    ["/control/deployments", '{"agent_id":"echo","event":"updated"}'],
  ];
  return [
    `control, with the header ${controlTokenHeader}${isGenerated ? `: ${token}` : " that you gave"}`,
    ...rows.map(([path, body]) => `  POST ${at(path)}  ${body}`),
    "",
  ];
}
