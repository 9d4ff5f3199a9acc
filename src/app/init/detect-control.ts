import { z } from "zod";

import type { Network } from "../../base/network/network.ts";
import { parseJson } from "../../base/parsing.ts";
import { deploymentEvents } from "../../spec/events.ts";
import { ControlCallFailed, send } from "../../target/control-calls.ts";
import type { HttpCall, ParsedTargetFile } from "../../target/file-schema.ts";
import { agentRoles } from "../../target/target.ts";

/** Access to the test control of a target. */
export interface ControlAccess {
  readonly baseUrl: string;
  readonly token: string;
  /** Environment variable that holds the token. The target file names it, and never contains the token. */
  readonly variable: string;
  readonly network: Network;
}

/** The parts of a target file that a test control provides. */
export type ControlParts = Pick<ParsedTargetFile, "agents" | "clock" | "triggers">;

/** A detected test control, or why there is none. */
export type DetectedControl =
  | { readonly kind: "found"; readonly calls: readonly string[]; readonly parts: ControlParts }
  | { readonly kind: "absent"; readonly why: string };

/** The header with the token of a test control. */
const tokenHeader = "X-Control-Token";

const discoverySchema = z.object({
  contract: z.literal("agent-hosting-test-control"),
  version: z.literal(1),
  calls: z.array(z.string()),
  agents_follow_clock: z.boolean().optional(),
});
const roles = Object.keys(agentRoles);
const agentsSchema = z.object({ agents: z.record(z.string(), z.string().min(1)) });

/** Asks a target for its test control, by GET requests alone. Says which parts of a target file follow. */
export async function detectControl({ baseUrl, token, variable, network }: ControlAccess): Promise<DetectedControl> {
  const urlOf = (path: string): string => new URL(`/test-control${path}`, baseUrl).href;
  const get = async <T>(path: string, schema: z.ZodType<T>): Promise<T | null> => {
    const call: HttpCall = { method: "GET", url: urlOf(path), headers: { [tokenHeader]: token } };
    const json = parseJson(await send(call, network, 0, "no test control was found"));
    return schema.safeParse(json.kind === "value" ? json.value : null).data ?? null;
  };
  try {
    const offer = await get("", discoverySchema);
    if (offer === null) return { kind: "absent", why: `${urlOf("")} answers no discovery document of version 1` };
    const listed = offer.calls.includes("agents") ? await get("/agents", agentsSchema) : null;
    const callOf = (path: string, body: HttpCall["body"]): HttpCall => ({
      method: "POST",
      url: urlOf(path),
      headers: { [tokenHeader]: `\${${variable}}` },
      body,
    });
    const agents = Object.entries(listed?.agents ?? {}).filter(([role]) => roles.includes(role));
    return {
      kind: "found",
      calls: offer.calls,
      parts: {
        ...(agents.length > 0 && { agents: Object.fromEntries(agents) }),
        ...(offer.calls.includes("clock") && {
          clock: {
            advance: callOf("/clock/advance", { seconds: "${seconds}" }),
            ...(offer.agents_follow_clock === true && { agentsFollow: true }),
          },
        }),
        ...(offer.calls.includes("deployments") && { triggers: triggersOf(callOf, Object.fromEntries(agents)) }),
      },
    };
  } catch (error) {
    if (error instanceof ControlCallFailed) return { kind: "absent", why: error.message };
    throw error;
  }
}

/** The agent that `created` and `deleted` are about. No other probe uses it. */
const newAgent = "newcomer";

/** The calls for the deployment events. Without an agent that only webhooks are about, the agent that answers is used. */
function triggersOf(
  callOf: (path: string, body: HttpCall["body"]) => HttpCall,
  agents: Readonly<Record<string, string>>,
): NonNullable<ParsedTargetFile["triggers"]> {
  const existing = agents["webhooked"] ?? agents["answering"];
  const calls = deploymentEvents.flatMap((event) => {
    const kind = event.replace("deployment.", "");
    const agent = kind === "created" || kind === "deleted" ? newAgent : existing;
    return agent === undefined ? [] : [[event, callOf("/deployments", { agent_id: agent, event: kind })]];
  });
  return Object.fromEntries(calls) as NonNullable<ParsedTargetFile["triggers"]>;
}
