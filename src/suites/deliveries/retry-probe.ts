import { randomUUID } from "node:crypto";

import type { Exchange } from "../../evidence/exchange.ts";
import type { Receiver, Reply } from "../../receiver/receiver.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import type { Client } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";
import type { RequirementSet } from "../../spec/clause.ts";
import { maxBody } from "../invoke/probes.ts";
import { isSuccess } from "../shared/response.ts";
import {
  agentIdOf,
  createWebhook,
  hookPrefix,
  type OpenedWebhook,
  reachOrThrow,
  type ReceiverReach,
  type RequestedWebhook,
  requestedWebhookOf,
  agentWithoutWebhooks,
} from "../webhooks/create-webhook.ts";
import { redirectedHook } from "./events.ts";
import { awaitFirstDeliveries, awaitFreeSender, replyAfter, replyInTime, startDelayMeter } from "./held-replies.ts";
import { type CompletedRetries, passSchedule } from "./pass-schedule.ts";
import type { TimeSpan } from "./retry-schedule.ts";

const status = (code: number) => ({ kind: "status", status: code }) as const satisfies Reply;

const ownHeaders = [
  ["Retry-After", "120"],
  ["Set-Cookie", "receiver=conformance"],
  ["X-Request-Id", "receiver-1"],
] as const;

/**
 * Replies of each receiver to its first, second, … delivery; the last reply repeats. `late` and `silent` get their
 * webhooks last, because a sequential sender may deliver nothing else while it waits for their replies.
 */
const scripts = {
  /** 14 replies suffice for the six attempts of the longest reading and one too many, each sent twice. */
  failing: [...Array.from({ length: 14 }, () => status(500)), status(204)],
  recovering: [status(500), status(500), status(204)],
  notFound: [status(404), status(204)],
  gone: [status(410), status(204)],
  /** 299 is a success, but has no registered name. */
  unnamedSuccess: Array.from({ length: 14 }, () => status(299)),
  /** The reply's headers, such as `Retry-After`, must not cause another attempt. */
  ownHeaders: Array.from({ length: 14 }, () => ({ ...status(200), headers: ownHeaders })),
  /** One invoke makes the target send two events to this receiver. The first attempt of each event should fail. */
  twoEvents: [status(500), status(500), status(204)],
  redirecting: [status(302), status(204)],
  resetting: [{ kind: "reset" }, status(204)],
  /** The receiver checks the first delivery's signature with a wrong secret, and replies 401. */
  mismatched: [{ kind: "verify" }, status(204)],
  /** The receiver replies slowly, but within the documented timeout. */
  held: [{ kind: "held", status: 200 }, status(204)],
  endless: [{ kind: "endless", status: 200 }, status(204)],
  /** Like `held`, but the probe releases the reply only after the documented timeout. */
  late: [{ kind: "held", status: 200 }, status(204)],
  silent: [{ kind: "silence" }, status(204)],
} as const satisfies Readonly<Record<string, readonly Reply[]>>;

export type ReceiverScript = keyof typeof scripts;
export const receiverScripts = Object.keys(scripts) as ReceiverScript[];

const laterScripts: Readonly<Partial<Record<ReceiverScript, RequirementSet>>> = {
  gone: "1.1",
  unnamedSuccess: "1.1",
  ownHeaders: "1.1",
  twoEvents: "1.2",
};

export const scriptsFailingFirst = receiverScripts.filter(
  (name) => !["unnamedSuccess", "ownHeaders", "twoEvents", "late", "held", "endless"].includes(name),
);

export const hookOfScript = (script: ReceiverScript): string => `${hookPrefix}${script}`;

export interface FailingReceivers {
  readonly reach: ReceiverReach;
  /** Webhooks by receiver; `null` if the key's limit was too low to create the webhook. */
  readonly webhooks: Readonly<Partial<Record<ReceiverScript, RequestedWebhook | null>>>;
  readonly invoked: Exchange;
  /**
   * Time for which the receivers `held` and `late` withheld their first reply, by the target's clock. `null` if no
   * delivery arrived, or no webhook was created.
   */
  readonly heldForMs: { readonly held: number | null; readonly late: number | null };
  /** `null` without a test clock, if the sender retries in real time, or if it still waits for a withheld reply. */
  readonly passed: CompletedRetries | null;
  readonly unwatched: readonly TimeSpan[];
}

const scriptsForFewRequests = ["failing", "mismatched"] as const satisfies readonly ReceiverScript[];

export const failingReceivers = probe(
  "an agent is invoked whose webhooks' receivers fail in many ways, and the retries are awaited",
  {
    needs: ["receiver", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? scriptsForFewRequests.length + 1 : 18),
    executions: (target) => (hasFewRequests(target) ? 1 : 3),
    waits: {
      mode: "optional",
      seconds: (target) => (hasFewRequests(target) ? 0 : (2 * deliveryPolicy.responseTimeoutMs) / 1000),
    },
    stage: "exclusive",
    isJudgedLater: true,
    creates: { webhooks: 14 },
    createsFew: { webhooks: scriptsForFewRequests.length },
  },
  async (context): Promise<FailingReceivers> => {
    const { client, given, target, time } = context;
    const { receiver } = given;
    const reach = await reachOrThrow(receiver, target);
    const agent = (await agentWithoutWebhooks(context)) ?? agentIdOf({ target });
    const isLimited = hasFewRequests(target);
    const opened = await openWebhooks(
      { client, receiver, time },
      agent,
      isLimited ? scriptsForFewRequests : receiverScripts,
    );
    const query = isLimited ? maxBody : { query: `Hello. ${randomUUID()}` };
    const delays = startDelayMeter();
    const invoked = await client.invoke(agent, query, { noRetry: true });
    const created = Object.values(opened).filter(({ exchange }) => isSuccess(exchange));
    const moves: TimeSpan[] = [];
    const { held, late, silent, failing } = opened;
    const unanswered = [late, silent].filter((each) => each !== undefined);
    const arrive = async (webhooks: readonly OpenedWebhook[]): Promise<boolean> =>
      isSuccess(invoked) && (await awaitFirstDeliveries(webhooks, unanswered, time));
    const hasHeldDelivery = held !== undefined && (await arrive(created.filter((each) => each === held)));
    const holding = { time, moves, invokedClockMs: invoked.clockMs, delays };
    const heldMs = held === undefined ? null : await replyInTime(slowReplyMs, held, holding);
    delays.disable();
    const haveArrived = (hasHeldDelivery || held === undefined) && (await arrive(created));
    const lateMs =
      late === undefined || silent === undefined
        ? null
        : await replyAfter(lateReplyMs, late, time, moves, [late, silent]);
    const isFree = await awaitFreeSender(created, unanswered, time);
    const failingHooks = scriptsFailingFirst.flatMap((script) => opened[script] ?? []).map(({ address }) => address);
    const passed =
      time.canAdvance && failing !== undefined && isFree
        ? await passSchedule({ client, time, failing, agent, receiver, moves, isAwaited: haveArrived, failingHooks })
        : null;
    const heldForMs = { held: heldMs, late: lateMs };
    const webhooks = Object.fromEntries(
      receiverScripts.map((name) => {
        const webhook = opened[name];
        return [name, webhook === undefined ? null : requestedWebhookOf(webhook)];
      }),
    ) as Record<ReceiverScript, RequestedWebhook | null>;
    return { reach, webhooks, invoked, heldForMs, passed, unwatched: [] };
  },
);

async function openWebhooks(
  { client, receiver, time }: { readonly client: Client; readonly receiver: Receiver; readonly time: RunClock },
  agent: string,
  names: readonly ReceiverScript[],
): Promise<Partial<Record<ReceiverScript, OpenedWebhook>>> {
  const redirected = receiver.open(redirectedHook, { secret: null, replies: [status(204)], takesReads: true });
  const redirect: Reply = { kind: "status", status: 302, headers: [["Location", redirected.url]] };
  // Without a test clock, this receiver always replies 500. Other probes invoke the same agent, and their events would
  // use up the limited number of 500s in `scripts.failing`.
  const failing = time.canAdvance ? scripts.failing : [status(500)];
  const replies = { ...scripts, failing, redirecting: [redirect, status(204)] };
  const opened: Partial<Record<ReceiverScript, OpenedWebhook>> = {};
  for (const name of names) {
    const isMismatched = name === "mismatched";
    const events = name === "twoEvents" ? ["agent.invoked", "agent.completed"] : ["agent.completed"];
    const options = { name, events, agent, replies: replies[name], isMismatched };
    const since = laterScripts[name];
    opened[name] = await createWebhook(client, receiver, since === undefined ? options : { ...options, since });
  }
  return opened;
}

/** Delay of the reply from the receiver `held`. The documented timeout is 3 s. */
const slowReplyMs = 1500;
const lateReplyMs = 2 * deliveryPolicy.responseTimeoutMs;
