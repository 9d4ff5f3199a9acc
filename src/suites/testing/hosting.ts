import { createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { is2xx } from "../../base/http.ts";
import { listenOnLoopback } from "../../base/network/network.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import type { Timers } from "../../run/time/run-clock.ts";
import type { Target } from "../../target/target.ts";
import { type HostingClock, manualClock } from "./hosting-clock.ts";

/** How a simulated hosting service sends its webhooks. The service shares no code with the reference server. */
export interface Habits {
  /** Pauses between attempts, in seconds. */
  readonly pauses: readonly number[];
  /** Whether pauses count from the first attempt. If not, they count from the previous one. */
  readonly fromFirst: boolean;
  /** Time between two polls of the service's queue by its clock. 0 if the service sends at once. */
  readonly pollSeconds: number;
  /** Real time between two polls of a queue whose entries are due by the service's clock. 0 with timers. */
  readonly pollEveryRealMs: number;
  readonly answerWithinMs: number;
  /** How long the service waits for a reply in real time. `null` if its timeout follows its clock. */
  readonly answerWithinRealMs: number | null;
  /** Whether the service sends a delivery only after the reply to the previous one. */
  readonly oneAtATime: boolean;
  /** Whether the service's worker sleeps in real time, so that an advance of the clock changes nothing. */
  readonly worksInRealTime: boolean;
  /** Real time in milliseconds from an advance of the clock until the service's response timer fires. */
  readonly timerLagMs: number;
  /** Returns the events that the service sends when an agent is invoked. */
  readonly events: (outcome: "completed" | "failed") => readonly string[];
  readonly selects: (wanted: string, type: string) => boolean;
  readonly isTied: boolean;
  readonly isSuccess: (status: number) => boolean;
  /** Number of the attempt whose reply gets lost, so that it counts as failed. `null` for none. */
  readonly attemptWithoutReply: number | null;
  /** Whether the service follows a redirect, with the same request. */
  readonly followsRedirects: boolean;
  readonly sign: (body: string, secret: string) => string;
  /** Number of duplicates that the service sends right after an accepted delivery. */
  readonly duplicates: number;
  /** Whether the service sends a ping to each new webhook, once, whatever the reply. */
  readonly pings: boolean;
  /** The service sends every n-th accepted event again after a minute; 0 for none. */
  readonly lateDuplicateEvery: number;
  readonly shape: (event: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly creates: (webhook: { readonly id: string }) => readonly [status: number, body: unknown];
  readonly stateOf: (state: "pending" | "delivered" | "failed") => string;
}

const defaultHabits: Habits = {
  pauses: [60, 300, 1800, 7200],
  fromFirst: false,
  pollSeconds: 0,
  pollEveryRealMs: 0,
  answerWithinMs: 3000,
  answerWithinRealMs: null,
  oneAtATime: false,
  worksInRealTime: false,
  timerLagMs: 0,
  events: (outcome) => ["agent.invoked", `agent.${outcome}`],
  selects: (wanted, type) => wanted === type || (wanted === "agent.*" && type.startsWith("agent.")),
  isTied: true,
  isSuccess: is2xx,
  attemptWithoutReply: null,
  followsRedirects: false,
  sign: (body, secret) => createHmac("sha256", secret).update(body).digest("hex"),
  duplicates: 0,
  pings: false,
  lateDuplicateEvery: 0,
  shape: (event) => event,
  creates: ({ id }) => [201, { webhook_id: id }],
  stateOf: (state) => state,
};

export interface Hosting {
  readonly target: Target;
  /** Timers to give to a run. A run that waits with them advances this service's clock. */
  readonly timers: Timers;
  readonly close: () => void;
}

interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly agent: string | undefined;
  readonly secret: string | undefined;
  readonly states: ("pending" | "delivered" | "failed")[];
}

/** Starts a small hosting service that shares no code with the reference server. A run may advance its clock. */
export async function startHosting(changes: Partial<Habits> = {}, hasClock = true): Promise<Hosting> {
  const habits = { ...defaultHabits, ...changes };
  const clock = manualClock();
  const worker = habits.worksInRealTime ? manualClock() : clock;
  const sending = senderOf(habits, worker);
  const agentsFollow = !habits.worksInRealTime;
  const webhooks: Webhook[] = [];
  const raise = (type: string, agent: string, data: object): void => {
    for (const each of webhooks) {
      const isMeant = !habits.isTied || each.agent === undefined || each.agent === agent;
      if (!isMeant || !each.events.some((wanted) => habits.selects(wanted, type))) continue;
      sending.send(each, { id: randomUUID(), type, created: new Date().toISOString(), data, agent_id: agent });
    }
  };
  const server = createServer(
    (incoming, response) => void answer({ habits, webhooks, raise, ping: sending.ping }, incoming, response),
  );
  const port = await listenOnLoopback(server);
  const trigger = (type: string) => () => Promise.resolve(raise(type, "bard", { reason: "test" }));
  return {
    target: aTarget(`http://127.0.0.1:${port}/v1`, {
      keys: { key: aKey({ tier: "team" }) },
      agents: { answering: "clerk", webhooked: "bard", failing: "clown" },
      agentSource: "named",
      clock: hasClock ? { advance: (ms) => clock.advance(ms, sending.settled), settleMs: 5, agentsFollow } : null,
      webhooks: { listen: "127.0.0.1:0", publicUrl: null, isReachabilityPromised: true, sources: null },
      triggers: {
        "deployment.created": trigger("deployment.created"),
        "deployment.updated": trigger("deployment.updated"),
        "deployment.deleted": trigger("deployment.deleted"),
        "deployment.health_changed": trigger("deployment.health_changed"),
      },
    }),
    timers: {
      // The worker's sleeps count only a tenth of real time. On a busy machine, all of it would make retries look late.
      now: () => performance.now() / 10 + worker.now(),
      sleep: (ms) => worker.advance(ms, sending.settled),
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Service {
  readonly habits: Habits;
  readonly webhooks: Webhook[];
  readonly raise: (type: string, agent: string, data: object) => void;
  readonly ping: (webhook: Webhook) => Promise<unknown>;
}

async function answer({ habits, webhooks, raise, ping }: Service, incoming: IncomingMessage, response: ServerResponse) {
  const sent = await text(incoming);
  const body = (sent === "" ? {} : JSON.parse(sent)) as Record<string, unknown>;
  const reply = (status: number, json: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
  };
  const [, , kind = "", id = "", action = ""] = (incoming.url ?? "").replace(/\?.*/, "").split("/");
  if (kind === "agents" && id === "")
    return reply(200, { data: [], pagination: { page: 1, limit: 2, total: 0, pages: 0 } });
  if (kind === "agents" && action === "health") return reply(200, { status: "healthy", checks: {} });
  if (kind === "agents") {
    const isFailing = id === "clown";
    const data = isFailing
      ? {
          request_id: randomUUID(),
          input: body,
          error: { code: "EXECUTION_ERROR", message: "Fell.", details: "A banana." },
        }
      : { request_id: randomUUID(), input: body, result: {}, execution_time: 0.1, tokens_used: 3 };
    for (const type of habits.events(isFailing ? "failed" : "completed")) raise(type, id, data);
    return isFailing
      ? reply(500, { error: { code: "CRASH", message: "Fell.", status: 500 } })
      : reply(200, { result: {} });
  }
  if (kind === "webhooks" && id === "") {
    if (typeof body["url"] !== "string" || !Array.isArray(body["events"]))
      return reply(400, { error: { code: "INVALID_INPUT", message: "No.", status: 400 } });
    const [agent, secret] = [body["agent_id"], body["secret"]].map((each) =>
      typeof each === "string" ? each : undefined,
    );
    const webhook = {
      id: randomUUID(),
      url: body["url"],
      events: body["events"] as string[],
      agent,
      secret,
      states: [],
    };
    webhooks.push(webhook);
    if (habits.pings) await ping(webhook);
    return reply(...habits.creates(webhook));
  }
  const known = webhooks.find((each) => each.id === id);
  if (known !== undefined && action === "deliveries")
    return reply(200, { deliveries: known.states.map((state) => ({ state: habits.stateOf(state) })) });
  return reply(404, { error: { code: "NOT_FOUND", message: "Nothing here.", status: 404 } });
}

function senderOf(habits: Habits, clock: HostingClock) {
  const underway = new Set<Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  const attempt = (webhook: Webhook, body: string): Promise<boolean> => {
    const send = (): Promise<boolean> => post(webhook, body, habits, clock);
    const sent = habits.oneAtATime ? last.then(send) : send();
    last = sent;
    underway.add(sent);
    return sent.finally(() => underway.delete(sent));
  };
  const run = async (webhook: Webhook, event: Readonly<Record<string, unknown>>): Promise<void> => {
    const at = webhook.states.push("pending") - 1;
    const body = JSON.stringify(habits.shape(event));
    const firstMs = clock.now();
    for (let tries = 0; ; tries++) {
      const previousMs = clock.now();
      const isAccepted = await attempt(webhook, body);
      if (isAccepted && tries + 1 !== habits.attemptWithoutReply) {
        webhook.states[at] = "delivered";
        for (let copies = 0; copies < habits.duplicates; copies++) void attempt(webhook, body);
        if (habits.lateDuplicateEvery > 0 && (at + 1) % habits.lateDuplicateEvery === 0)
          clock.after(60_000, () => void attempt(webhook, body));
        return;
      }
      const pause = habits.pauses[tries];
      if (pause === undefined) break;
      const dueMs = (habits.fromFirst ? firstMs : previousMs) + pause * 1000;
      await (habits.pollEveryRealMs > 0 ? waitForPoll(dueMs) : until(Math.max(0, dueMs - clock.now())));
    }
    webhook.states[at] = "failed";
  };
  /** With a polled queue, the service sends a due event only at its next poll. */
  const until = (ms: number): Promise<void> => {
    const pollMs = habits.pollSeconds * 1000;
    const dueMs = clock.now() + ms;
    const polledMs = pollMs === 0 ? dueMs : (Math.floor(dueMs / pollMs) + 1) * pollMs;
    if (polledMs <= clock.now()) return Promise.resolve();
    return new Promise((resolve) => void clock.after(polledMs - clock.now(), resolve));
  };
  const waitForPoll = async (dueMs: number): Promise<void> => {
    do await sleep(habits.pollEveryRealMs);
    while (clock.now() < dueMs);
  };
  const ping = (webhook: Webhook): Promise<unknown> => {
    const event = { id: randomUUID(), type: "ping", created: new Date().toISOString(), data: {}, agent_id: "none" };
    return Promise.race([attempt(webhook, JSON.stringify(event)), sleep(25)]);
  };
  return {
    ping,
    send: (webhook: Webhook, event: Readonly<Record<string, unknown>>): void =>
      void until(0).then(() => run(webhook, event)),
    settled: async (): Promise<void> => {
      await sleep(1);
      await Promise.race([Promise.allSettled(underway), sleep(25)]);
      await sleep(1);
    },
  };
}

/** Starts the timeout of an attempt. Returns a function that cancels it. */
function startTimeout(giveUp: () => void, habits: Habits, clock: HostingClock): () => void {
  const { answerWithinMs, answerWithinRealMs, timerLagMs } = habits;
  if (answerWithinRealMs !== null) {
    const timer = setTimeout(giveUp, answerWithinRealMs);
    return () => clearTimeout(timer);
  }
  return clock.after(answerWithinMs, () => {
    if (timerLagMs === 0) giveUp();
    else setTimeout(giveUp, timerLagMs);
  });
}

function post(webhook: Webhook, body: string, habits: Habits, clock: HostingClock): Promise<boolean> {
  const { url, secret } = webhook;
  return new Promise((resolve) => {
    const headers = {
      "content-type": "application/json",
      ...(secret !== undefined && { "x-service-signature": habits.sign(body, secret) }),
    };
    const sent = request(url, { method: "POST", headers, agent: false }, (response) => {
      response.resume();
      forget();
      const { location } = response.headers;
      if (habits.followsRedirects && location !== undefined)
        return resolve(post({ ...webhook, url: location }, body, habits, clock));
      if (habits.isSuccess(response.statusCode ?? 0)) response.destroy();
      resolve(habits.isSuccess(response.statusCode ?? 0));
    });
    const giveUp = (): void => void sent.destroy(new Error("no answer in time"));
    const forget = startTimeout(giveUp, habits, clock);
    sent.on("error", () => {
      forget();
      resolve(false);
    });
    sent.end(body);
  });
}
