import { randomUUID } from "node:crypto";

import { getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable } from "../../run/judge/finding.ts";
import { fillAgentId, queryOfDelivery } from "../operations/probes.ts";
import { slowWithWebhook } from "../relations/probes.ts";
import { maxStreamSeconds } from "../shared/durations.ts";
import { probeIfManyRequests } from "../shared/few-requests.ts";
import { isSuccess } from "../shared/response.ts";
import { deliveriesTo } from "../webhooks/await-deliveries.ts";
import { hookPrefix } from "../webhooks/create-webhook.ts";
import { eventsOfType } from "./events.ts";

interface SlowBatch {
  readonly submitted: Exchange;
  readonly completed: Delivery | null;
}

const maxSlowMs = 35_000;
const [maxWaitMs, pollMs] = [8000, 10];

const slowBatched = probeIfManyRequests(
  "a slow agent that has a webhook runs a batch",
  {
    needs: ["receiver", "paths.batch", "agents.slow"],
    requests: 1,
    executions: 1,
    stage: "coverage",
    after: [slowWithWebhook],
    creates: { operations: 1 },
    since: "1.2",
  },
  async ({ client, given, time }): Promise<SlowBatch | null> => {
    const { receiver, "agents.slow": slow, "paths.batch": path } = given;
    const arrived = (): Delivery[] =>
      eventsOfType(deliveriesTo(receiver.deliveries(), `${hookPrefix}slow-agent`), "agent.completed");
    if (arrived().length === 0) return null;
    const query = `Hello. ${randomUUID()}`;
    const submitted = await client.send("POST", fillAgentId(path, slow.agent), { json: { batch: [{ query }] } });
    const find = (): Delivery | null => arrived().find((each) => queryOfDelivery(each) === query) ?? null;
    const awaitCompleted = async (): Promise<void> => {
      for (let ms = 0; ms < maxWaitMs && find() === null; ms += pollMs) await time.sleepReal(pollMs);
    };
    if (isSuccess(submitted)) await time.awaitAgent(awaitCompleted(), maxSlowMs);
    return { submitted, completed: find() };
  },
);

/** Judges that `execution_time` is in seconds. It must not exceed the time from submission to delivery. */
function judgeBatchTime(batch: SlowBatch | null): Finding<never> {
  const seconds = batch?.completed && getPath(deliveryJson(batch.completed), "data", "execution_time");
  if (!batch?.completed || typeof seconds !== "number")
    return inapplicable("no `agent.completed` of a slow agent's batch has an `execution_time`");
  const { submitted, completed } = batch;
  const tookMs = completed.receivedMs - submitted.sentMs + completed.clockAtMostMs - submitted.clockMs;
  if (seconds <= maxStreamSeconds(tookMs)) return holds();
  return breach(
    "`data.execution_time`, in seconds",
    `${seconds}, although the delivery came ${(tookMs / 1000).toFixed(3)} s after the batch`,
    submitted,
    completed,
  );
}

export const batchTimeCheck = check("HOOK-17", slowBatched, judgeBatchTime, { as: "batch", since: "1.2" });
