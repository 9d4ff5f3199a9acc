import { getPath } from "../../base/json.ts";
import { deploymentEvents, webhookEvents } from "../../spec/events-and-errors.ts";
import { type ReceivedDelivery, testReceiver } from "../webhooks/testing/outbox-fixture.ts";
import type { TestServer } from "./test-server.ts";

/** Starts a receiver that responds with the status in the path, such as `/404`. Other paths get no response. */
async function receiverByPath() {
  let laterCount = 0;
  const receiver = await testReceiver(
    () => 0,
    (path) => {
      if (path === "/endless") return "endless";
      if (path === "/later") return (laterCount += 1) === 1 ? 500 : 204;
      return Number(path.slice(1)) || "silence";
    },
  );
  let taken = 0;
  return {
    ...receiver,
    /** Returns the deliveries since the last call as text, sorted because their order may vary. */
    take: (): string[] => {
      const next = receiver.received.slice(taken);
      taken += next.length;
      return next.map(deliveryText).toSorted();
    },
  };
}

function deliveryText({ path, rawHeaders, bytes }: ReceivedDelivery): string {
  const headers = rawHeaders.filter((_text, at, all) => all[at - (at % 2)]?.toLowerCase() !== "host");
  return JSON.stringify([path, headers, bytes.toString("utf8")]);
}

const agent = "keeper";
const stepsMs = [0, 100, 1500, 4000, 20_000, 60_000, 300_000, 1_800_000, 7_200_000, 7_200_000];

/** Exercises alerts, and webhooks with all kinds of receivers, over the whole schedule of retries. */
export async function* webhookTranscript(server: TestServer): AsyncGenerator<string> {
  const receiver = await receiverByPath();
  const ask = async (path: string, body?: object, key = "enterprise") => {
    const call = body === undefined ? { key } : { key, body };
    const { status, text, json } = await server.call(path, call);
    return { line: `${path} ${status} ${text.replaceAll(receiver.origin, "")}`, json };
  };
  const hook = (path: string, fields: object = {}) =>
    ask("/webhooks", {
      url: receiver.origin + path,
      events: ["agent.completed"],
      agent_id: agent,
      secret: "s",
      ...fields,
    });
  try {
    const created = [
      await hook("/200", { events: ["agent.*"], agent_id: undefined, secret: undefined }),
      await hook("/204", { events: webhookEvents, agent_id: undefined }),
      await hook("/202", { events: ["agent.invoked", "agent.completed"], secret: "czE" }),
      await hook("/201", { agent_id: "elder" }),
      await hook("/203", { events: deploymentEvents }),
      await hook("/silent", { events: ["agent.invoked", "agent.completed"] }),
      ...(await Promise.all(["/302", "/401", "/404", "/500", "/later", "/endless"].map((path) => hook(path)))),
    ];
    for (const fields of [{ url: 5 }, { url: undefined }, { events: "agent.*" }, { events: ["no"] }])
      created.push(await hook("/200", fields));
    yield* created.map(({ line }) => line).toSorted();
    for (const fields of [{ threshold: 2 }, { threshold: 200 }, { type: "other" }]) {
      const alert = { type: "rate_limit", threshold: 2, webhook_url: `${receiver.origin}/200`, ...fields };
      yield (await ask("/alerts", alert, "free")).line;
    }
    await server.invoke(agent, { key: "enterprise", body: { query: "Grüße 🙂", context: "x".repeat(17_000) } });
    await server.invoke("crasher", { key: "enterprise" });
    // A comparison of transcripts may end before the agent times out: the request then fails.
    const stuck = server.invoke("stuck", { key: "enterprise" }).catch(() => null);
    (await server.stream("dripper", { key: "enterprise" })).disconnect();
    for (let at = 0; at < 4; at += 1) await server.call("/usage", { key: "free" });
    for (const change of ["created", "updated", "deleted"] as const)
      server.reference.deploy({ kind: change, agentId: "newcomer" });
    server.reference.deploy({ kind: "health_changed", agentId: agent, health: "degraded" });
    const ids = created.slice(0, 12).map(({ json }) => String(getPath(json, "webhook_id")));
    for (const ms of stepsMs) {
      await server.reference.advance(ms);
      yield* receiver.take();
      for (const id of ids)
        for (const what of ["deliveries", "metrics"]) yield (await ask(`/webhooks/${id}/${what}`)).line;
    }
    await stuck;
    await server.invoke(agent, { key: "enterprise" });
    await server.reference.advance(1);
    yield* receiver.take();
  } finally {
    await receiver.close();
  }
}
