import { minuteMs } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { isAdmitted } from "../../rules/limits/sample.ts";
import { mainKey, tiersUnderTest } from "../../run/plan/needs.ts";
import { type ProbeContext, probe } from "../../run/probe.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import {
  type KeySender,
  exhaustAllowance,
  helloBody,
  invokeUnpaced,
  samplesSince,
  unpaced,
  waitIfAllowed,
} from "./exhaust.ts";
import { countedReadOf } from "./key-history.ts";
import { marginMs, requestsBeyondMinute } from "./minute-probe.ts";
import { requireEndpoint, retryWhenDue } from "./timed-retry.ts";

/** A spare key: it has a small limit and is not the main key. Using up its limit delays no other probe. */
interface SpareKey {
  readonly key: TargetKey;
  readonly limits: TierLimits;
  /** A key of the same tier, not the main key. Its requests must not lower the spare key's `Remaining`. */
  readonly partner: TargetKey | null;
}

/** Largest limit per minute of a spare key. A larger limit would take too many requests to use up. */
const maxPerMinute = 20;

/**
 * Returns a spare key of the tier with the smallest limit per minute. Returns `null` if the target has no spare key, or
 * has a test clock.
 */
export function spareKeyOf(target: Target): SpareKey | null {
  const main = mainKey(target);
  if (target.clock !== null || main === null) return null;
  const [smallest] = tiersUnderTest(target).toSorted((a, b) => a.limits.perMinute - b.limits.perMinute);
  if (smallest === undefined || smallest.limits.perMinute > maxPerMinute) return null;
  const { key: tested, siblingKey, limits } = smallest;
  const key = [siblingKey, tested].find((each) => each !== null && each.key !== main.key) ?? null;
  if (key === null) return null;
  const partner = tested.key === main.key || tested.key === key.key ? null : tested;
  return { key, limits, partner };
}

export function spareKeys(target: Target): readonly TargetKey[] {
  const spare = spareKeyOf(target);
  return spare === null ? [] : [spare.key, ...(spare.partner === null ? [] : [spare.partner])];
}

const partnerRequests = 3;

const requestsOfMinute = (target: Target): number => spareKeyOf(target)?.limits.perMinute ?? 0;

export interface PartnerUse {
  readonly before: Exchange;
  readonly partner: readonly Exchange[];
  readonly after: Exchange;
}

export interface SpareMinute {
  readonly isSpare: boolean;
  readonly between?: PartnerUse | null;
}

export const spareMinuteExhausted = probe(
  "the minute of a spare key is used up",
  {
    since: "1.1",
    needs: ["agents.answering"],
    stage: "limits",
    keys: spareKeys,
    requests: requestsOfMinute,
  },
  async (context): Promise<SpareMinute> => {
    const spare = spareKeyOf(context.target);
    if (spare === null) return { isSpare: false };
    requireEndpoint("invoke", context);
    const { client, time, given, discovery } = context;
    const sender: KeySender = {
      client: client.as(spare.key),
      agent: given["agents.answering"],
      limits: spare.limits,
      time,
      countedRead: countedReadOf(discovery),
    };
    const between = await usePartnerBetween(sender, context, spare);
    await exhaustSpareKey(sender, context, spare);
    return { isSpare: true, between };
  },
);

async function usePartnerBetween(
  { client, agent, time }: KeySender,
  { recorder }: Pick<ProbeContext, "recorder">,
  { limits: { perMinute }, partner }: SpareKey,
): Promise<PartnerUse | null> {
  if (partner === null) return null;
  const recent = samplesSince(recorder, client.key, time.now() - minuteMs);
  const isMeasurable = recent.length + partnerRequests + 2 <= perMinute;
  const invoke = (): Promise<Exchange> => client.invoke(agent, helloBody, unpaced);
  const before = isMeasurable ? await invoke() : null;
  const sent: Exchange[] = [];
  while (sent.length < partnerRequests) sent.push(await client.as(partner).invoke(agent, helloBody, unpaced));
  return before === null ? null : { before, partner: sent, after: await invoke() };
}

/**
 * Uses up the spare key's limit per minute. Repeats this once if the target admits fewer requests than the limit, or
 * more than limit plus burst. Use before the run, or a window that ends meanwhile, can explain the first result.
 */
async function exhaustSpareKey(
  sender: KeySender,
  context: Pick<ProbeContext, "recorder">,
  { limits, key }: SpareKey,
): Promise<void> {
  const { time } = sender;
  const { perMinute, burst } = limits;
  const earlier = samplesSince(context.recorder, key, time.now() - minuteMs).filter(isAdmitted).length;
  const beganMs = time.now();
  const options = { max: requestsBeyondMinute(limits), expected: perMinute - earlier };
  const { admitted, end } = await exhaustAllowance(sender, options);
  const total = admitted + earlier;
  const isOver = total > perMinute + (burst ?? Infinity);
  if (end === "failing" || (total >= perMinute && !isOver)) return;
  const lastedMs = time.now() - beganMs;
  // After too few admissions, waits until the run has lasted over a minute: earlier use of the key no longer counts.
  const waitMs = isOver ? minuteMs + lastedMs + marginMs : minuteOverMs + marginMs - time.now();
  if (!(await waitIfAllowed(time, waitMs, "a second burst must show the limit of the spare key"))) return;
  const again = await exhaustAllowance(sender, { ...options, expected: isOver ? perMinute : 0 });
  if (!isOver && again.end === "refused") await retryWhenDue(sender, await invokeUnpaced(sender));
}
