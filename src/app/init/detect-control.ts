import type { Network } from "../../base/network/network.ts";
import { deploymentEvents } from "../../spec/events.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";
import type { HttpCall, ParsedTargetFile } from "../../target/target-file-schema.ts";
import { type ControlOffer, controlTokenHeader, readOffer } from "../../target/test-control.ts";

export interface ControlAccess {
  readonly baseUrl: string;
  readonly token: string;
  /** Environment variable that holds the token. The target file contains this name, and never the token. */
  readonly variable: string;
  readonly network: Network;
}

export type ControlParts = Pick<ParsedTargetFile, "agents" | "clock" | "control" | "triggers">;

export type DetectedControl =
  | { readonly kind: "found"; readonly calls: readonly string[]; readonly parts: ControlParts }
  | { readonly kind: "absent"; readonly why: string };

/** Detects by GET requests whether the target has a test control. Returns the parts of a target file that use it. */
export async function detectControl({ baseUrl, token, variable, network }: ControlAccess): Promise<DetectedControl> {
  const url = new URL("/test-control", baseUrl).href;
  try {
    const offer = await readOffer({ url, token }, network);
    return { kind: "found", calls: offer.calls, parts: controlPartsOf(offer, url, `\${${variable}}`) };
  } catch (error) {
    if (error instanceof ControlCallFailed) return { kind: "absent", why: error.message };
    throw error;
  }
}

function controlPartsOf({ calls, agents, agentsFollowClock }: ControlOffer, url: string, token: string): ControlParts {
  const callOf = (path: string, body: HttpCall["body"]): HttpCall => ({
    method: "POST",
    url: url + path,
    headers: { [controlTokenHeader]: token },
    body,
  });
  return {
    ...(Object.keys(agents).length > 0 && { agents }),
    ...(calls.includes("clock") && {
      clock: {
        advance: callOf("/clock/advance", { seconds: "${seconds}" }),
        ...(agentsFollowClock && { agentsFollow: true }),
      },
    }),
    ...(calls.includes("keys") && { control: { url, token } }),
    ...(calls.includes("deployments") && { triggers: deploymentTriggers(callOf, agents) }),
  };
}

/** Id of an extra agent for `deployment.created` and `deployment.deleted`. The target's own agents are not deleted. */
const deployedAgentId = "newcomer";

function deploymentTriggers(
  callOf: (path: string, body: HttpCall["body"]) => HttpCall,
  agents: ControlOffer["agents"],
): NonNullable<ParsedTargetFile["triggers"]> {
  const existing = agents.webhooked ?? agents.answering;
  const calls = deploymentEvents.flatMap((event) => {
    const kind = event.replace("deployment.", "");
    const agent = kind === "created" || kind === "deleted" ? deployedAgentId : existing;
    return agent === undefined ? [] : [[event, callOf("/deployments", { agent_id: agent, event: kind })]];
  });
  return Object.fromEntries(calls) as NonNullable<ParsedTargetFile["triggers"]>;
}
