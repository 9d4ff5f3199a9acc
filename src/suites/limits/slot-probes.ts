import { setTimeout as sleep } from "node:timers/promises";

import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { tierProbe, type TierProbeContext } from "../../run/probe.ts";
import { agentPath, bodyFor } from "../../run/send/client.ts";
import type { PendingExchange } from "../../wire/transport.ts";
import { fillAgentId } from "../operations/probes.ts";
import { isSuccess } from "../shared/response.ts";
import { requestsInState } from "../coverage/probe.ts";
import { ensureAllowance, helloBody, unpaced, waitIfAllowed } from "./exhaust.ts";
import {
  agentsFollowClock,
  holdAllSlots,
  invokeAndRetryAfterMinute,
  invokeWithRetries,
  maxHeldMs,
  requestsAndWait,
  repeatUntilRefused,
  awaitBriefly,
  stepMs,
  triesBeyondSlots,
} from "./hold-slots.ts";

/** Minimum wait for the slow requests to reach the target. Opening a connection takes several round trips. */
const minArrivalMs = 10;
const maxArrivalMs = 500;
/** Wait for the slow requests to reach the target, as a multiple of the duration of a health request. */
const roundTrips = 4;

export interface SlotsHeld {
  readonly concurrent: number;
  readonly held: readonly Exchange[];
  readonly extra: Exchange;
  readonly twin: { readonly during: Exchange; readonly after: Exchange } | null;
  readonly health: Exchange;
  readonly batch: { readonly during: Exchange; readonly after: Exchange | null } | null;
  readonly extraEndedAfterMs: number;
  readonly after: Exchange;
}

type SlotContext = TierProbeContext<"agents.slow" | "agents.answering">;

export const slotsHeld = tierProbe(
  "all slots are held by slow requests",
  {
    needs: ["agents.slow", "agents.answering"],
    stage: "concurrency",
    requests: ({ limits }) => limits.concurrent + 4,
    waitSeconds: () => 5,
    usesUp: "slots held",
  },
  async (context): Promise<SlotsHeld> => {
    const { client, given, tested, time, recorder } = context;
    const { key, limits, siblingKey } = tested;
    const own = client.as(key);
    // Without a test clock, skips requests to other endpoints. The slow invokes could end before these requests are
    // sent.
    const otherRequests = time.canAdvance
      ? requestsInState(context, { key, kind: tested.tier, state: "slots held" })
      : [];
    const { held, extra, during, health, submitted } = await holdAllSlots(
      (tripMs) => holdWithSlowInvokes(context, otherRequests, tripMs),
      (result) => result.held,
      (result) => isSuccess(result.extra),
      context,
    );
    const samples = new Map(recorder.samplesOf(key.name).map((sample) => [sample.id, sample]));
    const endMs = ({ id }: Exchange): number => {
      const sample = samples.get(id);
      return sample === undefined ? 0 : sample.endMs + (agentsFollowClock(time) ? sample.endClockMs : 0);
    };
    const extraEndedAfterMs = endMs(extra) - Math.min(...held.map(endMs)) + (agentsFollowClock(time) ? stepMs : 0);
    const after = await invokeWithRetries(own, given["agents.answering"]);
    const hasFailed = submitted !== null && (statusOf(submitted) ?? 0) >= 500;
    const batchAfter = hasFailed ? ((await submitBatch(context)?.finished) ?? null) : null;
    const batch = submitted === null ? null : { during: submitted, after: batchAfter };
    const twin =
      siblingKey === null || during === null
        ? null
        : { during, after: await invokeWithRetries(client.as(siblingKey), given["agents.answering"]) };
    await holdForOtherEndpoints(context, otherRequests);
    return { concurrent: limits.concurrent, held, extra, twin, health, batch, extraEndedAfterMs, after };
  },
);

async function holdWithSlowInvokes(context: SlotContext, otherRequests: (() => PendingExchange)[], tripMs: number) {
  const { client, given, tested, time, recorder } = context;
  const { concurrent, perMinute } = tested.limits;
  const [own, other] = [client.as(tested.key), tested.siblingKey === null ? null : client.as(tested.siblingKey)];
  const otherCount = Math.max(0, Math.min(otherRequests.length, perMinute - concurrent - 6));
  await ensureAllowance(own, concurrent + 4 + otherCount, { time, recorder, perMinute });
  if (other !== null) await ensureAllowance(other, 2, { time, recorder, perMinute });
  const openSlow = openerOfSlow(context);
  const opened = Array.from({ length: concurrent }, openSlow);
  const healthSentMs = time.now();
  await own.health(given["agents.answering"]);
  const arrivalMs = Math.max(minArrivalMs, roundTrips * (time.now() - healthSentMs));
  await sleep(Math.max(tripMs, Math.min(maxArrivalMs, arrivalMs)));
  const more = openSlow();
  const path = agentPath(given["agents.answering"], "invoke");
  const siblingInvoke = other?.open("POST", path, { json: helloBody, ...unpaced });
  const batch = submitBatch(context);
  const health = await own.health(given["agents.answering"]);
  for (const each of [siblingInvoke, batch]) if (each) await awaitBriefly(each.finished);
  const others = otherRequests.splice(0, otherCount).map((open) => open().finished);
  await Promise.all(others.map(awaitBriefly));
  const all = Promise.all([...opened, more].map(({ finished }) => finished));
  const ended = await time.awaitAgent(all, maxHeldMs, stepMs, tripMs);
  await Promise.all(others);
  return {
    held: ended.slice(0, concurrent),
    extra: ended.at(-1) ?? (await more.finished),
    during: (await siblingInvoke?.finished) ?? null,
    health,
    submitted: (await batch?.finished) ?? null,
  };
}

function openerOfSlow({ client, given, tested }: TierProbeContext<"agents.slow">): () => PendingExchange {
  const options = { json: bodyFor(given["agents.slow"], helloBody), ...unpaced };
  return () => client.as(tested.key).open("POST", agentPath(given["agents.slow"], "invoke"), options);
}

function submitBatch({ client, given, tested, target }: SlotContext): PendingExchange | null {
  if (target.paths.batch === null) return null;
  const path = fillAgentId(target.paths.batch, given["agents.answering"]);
  return client.as(tested.key).open("POST", path, { json: { batch: [helloBody] }, ...unpaced });
}

async function holdForOtherEndpoints(context: SlotContext, otherRequests: (() => PendingExchange)[]): Promise<void> {
  const {
    client,
    tested: { limits },
    time,
  } = context;
  const openSlow = openerOfSlow({ ...context, client: client.since("1.1") });
  while (otherRequests.length > 0) {
    if (!(await waitIfAllowed(time, minuteOverMs, "all slots of a key are held again"))) return;
    const held = Array.from({ length: limits.concurrent }, () => openSlow().finished);
    await sleep(maxArrivalMs / 10);
    const others = otherRequests.splice(0, limits.perMinute - limits.concurrent - 1).map((open) => open().finished);
    await Promise.all(others.map(awaitBriefly));
    await time.awaitAgent(Promise.all([...held, ...others]), maxHeldMs, stepMs);
  }
}

/**
 * Responses to more failing requests than the key has concurrency slots. A server that does not free the slots of
 * failed requests refuses the last ones.
 */
export interface FailuresBeyondSlots {
  readonly concurrent: number;
  readonly before: Exchange;
  readonly refusedInput: readonly Exchange[];
  readonly between: Exchange;
  readonly failed: readonly Exchange[];
  readonly after: Exchange;
}

const acceptsInvalidInput = (sent: readonly Exchange[]): boolean => sent.length >= 2 && sent.every(isSuccess);

export const failuresBeyondSlots = tierProbe(
  "more requests end badly than there are slots",
  {
    needs: ["agents.answering", "agents.failing"],
    stage: "concurrency",
    ...requestsAndWait((tries) => 2 * tries + 3),
  },
  async ({ client, given, tested: { key, limits }, time, recorder }): Promise<FailuresBeyondSlots> => {
    const own = client.as(key);
    const agent = given["agents.answering"];
    const tries = triesBeyondSlots(limits);
    const ensureTries = (): Promise<void> =>
      ensureAllowance(own, tries + 2, { time, recorder, perMinute: Math.max(limits.perMinute, tries + 2) });
    await ensureTries();
    const before = await invokeWithRetries(own, agent);
    const refusedInput = await repeatUntilRefused(
      before,
      tries,
      () => invokeWithRetries(own, agent, { parameters: {} }),
      acceptsInvalidInput,
    );
    const between = await invokeWithRetries(own, agent);
    await ensureTries();
    const failed = await repeatUntilRefused(before, tries, () => invokeWithRetries(own, given["agents.failing"]));
    const after = await invokeAndRetryAfterMinute(own, agent, time);
    return { concurrent: limits.concurrent, before, refusedInput, between, failed, after };
  },
);
