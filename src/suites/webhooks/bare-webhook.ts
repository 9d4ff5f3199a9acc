import type { Exchange } from "../../evidence/exchange.ts";
import { observe } from "../../run/judge/check.ts";
import { observed, unproven } from "../../run/judge/finding.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import { generateSecret } from "../../evidence/secret.ts";
import { describeVerdict } from "../shared/response.ts";
import { agentIdOf } from "./create-webhook.ts";

/** Requests a webhook without two required fields: a server that names both may leave the document's error form. */
export const bareWebhookRequested = probe(
  "a webhook is asked for without its url and its events",
  {
    needs: ["receiver", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? 0 : 1),
    executions: 0,
    creates: { webhooks: 1 },
    createsFew: {},
    since: "1.2",
  },
  async ({ client, target }): Promise<Exchange | null> =>
    hasFewRequests(target)
      ? null
      : client.send("POST", "/webhooks", { json: { agent_id: agentIdOf({ target }), secret: generateSecret() } }),
);

export const bareWebhookObservation = observe(
  "WHK-5",
  bareWebhookRequested,
  (requested) =>
    requested === null
      ? unproven("the key has few requests a minute")
      : observed(`without url and events: ${describeVerdict(requested)}`),
  { as: "two fields", since: "1.2" },
);
