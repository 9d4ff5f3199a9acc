import type { Exchange } from "../../evidence/exchange.ts";
import { check } from "../../run/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/finding.ts";
import { probe, type Scene } from "../../run/probe.ts";
import { alertCrossed } from "../alerts/probes.ts";
import { keyUsageRead, quietWebhook, webhookCreated } from "../keys/probes.ts";
import { hasStatus, isSuccess, outcomeOf } from "../answers/shape.ts";
import { type Strangers, strangersAsked, strangersKey } from "./strangers.ts";
import { isOpen } from "../answers/wording.ts";

/** What came of one request without a key, and with a wrong one. */
export interface AskedElsewhere {
  readonly missing: Exchange;
  readonly wrong: Exchange;
}

/** @param json the body of a POST; `undefined` for a GET */
async function askBoth({ client }: Pick<Scene, "client">, path: string, json?: object): Promise<AskedElsewhere> {
  const ask = (authorization: string | null): Promise<Exchange> =>
    client.send(json === undefined ? "GET" : "POST", path, {
      authorization,
      unpaced: true,
      ...(json === undefined ? {} : { json }),
    });
  return { missing: await ask(null), wrong: await ask(`Bearer ${strangersKey(client.key.key)}`) };
}

export const keyUsageByStrangers = probe(
  "key usage is read without a valid key",
  { requests: 0, reads: true },
  (scene) => askBoth(scene, "/keys/usage"),
);

/** Should they be let in, they create a webhook of an event that nothing in a run causes, and an alert that says little. */
export const webhooksByStrangers = probe(
  "a webhook is created without a valid key",
  { needs: ["receiver"], requests: 0 },
  (scene) => askBoth(scene, "/webhooks", quietWebhook(scene, "of-strangers")),
);

export const alertsByStrangers = probe(
  "a usage alert is created without a valid key",
  { needs: ["receiver"], requests: 0 },
  (scene) =>
    askBoth(scene, "/alerts", {
      type: "rate_limit",
      threshold: 99,
      webhook_url: quietWebhook(scene, "alert-of-strangers").url,
    }),
);

interface Elsewhere {
  readonly asked: AskedElsewhere;
  readonly strangers: Strangers;
  /** The same endpoint with a valid key. */
  readonly control: Exchange;
}

const notProven = unproven("no valid key was let in there, so a refusal proves nothing");

/** A wrong key gets 401 here as on usage; where it does not get it there, this adds nothing to that breach. */
function judgeWrong({ asked: { wrong }, strangers, control }: Elsewhere): Finding<never> {
  if (strangers.wrong.usage === undefined || !hasStatus(strangers.wrong.usage, 401))
    return unproven("a wrong key does not meet a 401 on usage (AUTH-3, AUTH-8)");
  if (isSuccess(wrong)) return breach("401", outcomeOf(wrong), wrong);
  if (!isSuccess(control)) return notProven;
  if (isOpen(wrong)) return unproven(`the request came to no verdict (${outcomeOf(wrong)})`);
  return hasStatus(wrong, 401) ? holds() : breach("401", outcomeOf(wrong), wrong, control);
}

function judgeMissing({ asked: { missing }, control }: Elsewhere): Finding<never> {
  if (isSuccess(missing)) return breach("a request without a key is not let in", outcomeOf(missing), missing);
  if (isOpen(missing)) return unproven(`the request came to no verdict (${outcomeOf(missing)})`);
  return isSuccess(control) ? holds() : notProven;
}

const onKeyUsage = { asked: keyUsageByStrangers, strangers: strangersAsked, read: keyUsageRead } as const;
const onWebhooks = { asked: webhooksByStrangers, strangers: strangersAsked, created: webhookCreated } as const;
const onAlerts = { asked: alertsByStrangers, strangers: strangersAsked, alert: alertCrossed } as const;

/** A wrong key on the endpoints that only some runs can exercise; the section on authentication has them. */
export const elsewhereChecks = [
  check("AUTH-8", onKeyUsage, ({ read, ...rest }) => judgeWrong({ ...rest, control: read.read }), { as: "key usage" }),
  check("AUTH-8", onWebhooks, ({ created, ...rest }) => judgeWrong({ ...rest, control: created.created }), {
    as: "webhooks",
  }),
  check("AUTH-8", onAlerts, ({ alert, ...rest }) => judgeWrong({ ...rest, control: alert.created }), { as: "alerts" }),
];

/** No key at all on the same endpoints; the common request rules have them. */
export const keyRequiredElsewhere = [
  check("REQ-2", onKeyUsage, ({ read, ...rest }) => judgeMissing({ ...rest, control: read.read }), { as: "key usage" }),
  check("REQ-2", onWebhooks, ({ created, ...rest }) => judgeMissing({ ...rest, control: created.created }), {
    as: "webhooks",
  }),
  check("REQ-2", onAlerts, ({ alert, ...rest }) => judgeMissing({ ...rest, control: alert.created }), { as: "alerts" }),
];
