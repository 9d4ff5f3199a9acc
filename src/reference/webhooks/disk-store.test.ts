import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { hourMs, minuteMs } from "../../base/duration.ts";
import { virtualClock, virtualEpochMs } from "../clock.ts";
import { startReference } from "../reference.ts";
import { DataFolderProblem, diskStore } from "./disk-store.ts";
import { agentEvent, newWebhook, outboxFixture, testReceiver } from "./testing/outbox-fixture.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "outbox-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe("a server that starts again with the same folder", () => {
  it("continues the retries that are due later", async () => {
    const data = folder();
    const first = outboxFixture({ store: diskStore(data) });
    const target = await first.receiver(500);
    const { id } = first.outbox.add(newWebhook(target.url, { headers: { "X-Team": "blue" } }));
    first.outbox.emit(agentEvent());
    await first.advance(6 * minuteMs);
    await first.outbox.close();
    expect(first.times(target)).toEqual([0, minuteMs, 6 * minuteMs]);

    const second = outboxFixture({ store: diskStore(data) });
    expect(second.outbox.find(id)).toMatchObject({ url: target.url, secret: "whsec" });
    expect(second.outbox.deliveriesOf(id)[0]).toMatchObject({ state: "pending", attempts: [{}, {}, {}] });
    await second.advance(3 * hourMs);
    expect(target.received).toHaveLength(5);
    expect(new Set(target.received.map(({ bytes }) => bytes.toString()))).toHaveLength(1);
    const [delivery] = second.outbox.deliveriesOf(id);
    expect(delivery).toMatchObject({ state: "failed", nextAttemptMs: null });
    expect(delivery?.attempts.slice(3).map(({ atMs }) => atMs)).toEqual(
      [minuteMs * 36, minuteMs * 156].map((ms) => virtualEpochMs + ms),
    );
    expect(second.outbox.totalsOf(id)).toMatchObject({ delivered: 0, failed: 1 });
  });

  it("sends overdue deliveries at once, but no delivered ones", async () => {
    const data = folder();
    const first = outboxFixture({
      store: diskStore(data),
      behaviour: { nextAttemptMs: ({ delivered }) => (delivered ? null : 5) },
    });
    const target = await first.receiver(204, "silence", 204);
    const { id } = first.outbox.add(newWebhook(target.url));
    first.outbox.emit(agentEvent({ data: { number: 1 } }));
    await first.advance(0);
    first.outbox.emit(agentEvent({ data: { number: 2 } }));
    await first.advance(0);
    await first.outbox.close();

    const second = outboxFixture({ store: diskStore(data) });
    await second.advance(0);
    expect(target.received.map(({ json }) => json["data"])).toEqual([{ number: 1 }, { number: 2 }, { number: 2 }]);
    expect(second.outbox.deliveriesOf(id).map(({ state }) => state)).toEqual(["delivered", "delivered"]);
  });

  it("continues its counters and uses no id twice", async () => {
    const data = folder();
    const ids: string[] = [];
    for (let start = 0; start < 3; start += 1) {
      const { outbox, advance, receiver } = outboxFixture({ store: diskStore(data) });
      const target = await receiver(204);
      const { id } = outbox.add(newWebhook(target.url, { events: start === 2 ? ["agent.*"] : ["deployment.*"] }));
      outbox.emit(agentEvent({ type: "deployment.updated" }));
      await advance(0);
      ids.push(id, ...outbox.webhooks().flatMap((webhook) => outbox.deliveriesOf(webhook.id).map((known) => known.id)));
      await outbox.close();
    }
    expect(ids.filter((id) => id.startsWith("wh_"))).toEqual(["wh_000001", "wh_000002", "wh_000003"]);
    expect(new Set(ids.filter((id) => id.startsWith("dlv_")))).toHaveLength(5);
  });

  it("restores the webhooks of a configuration file when the file is loaded", async () => {
    const data = folder();
    const first = outboxFixture({ store: diskStore(data) });
    const target = await first.receiver(204);
    const given = newWebhook(target.url, { owner: "file", secret: null });
    const { id } = first.outbox.add(given);
    await first.outbox.close();
    const second = outboxFixture({ store: diskStore(data) });
    expect(second.outbox.webhooks()).toEqual([]);
    expect(second.outbox.add(given).id).toBe(id);
    expect(second.outbox.webhooks()).toHaveLength(1);
  });

  it("keeps other records", () => {
    const data = folder();
    const first = diskStore(data);
    first.put("alert", "b", { threshold: 1 });
    first.put("alert", "a", { threshold: 2 });
    first.put("alert", "b", { threshold: 3 });
    first.close();
    const second = diskStore(data);
    onTestFinished(() => second.close());
    expect(second.list("alert")).toEqual([
      { id: "b", value: { threshold: 3 } },
      { id: "a", value: { threshold: 2 } },
    ]);
    expect(second.list("other")).toEqual([]);
  });
});

describe("a server on a virtual clock that starts again with the same folder", () => {
  it("continues at the latest instant in the folder", async () => {
    const data = folder();
    const first = outboxFixture({ store: diskStore(data) });
    const target = await first.receiver(500);
    first.outbox.add(newWebhook(target.url));
    first.outbox.emit(agentEvent());
    await first.advance(6 * minuteMs);
    await first.outbox.close();
    expect(target.received).toHaveLength(3);

    const clock = virtualClock();
    const second = await startReference({ clock, dataFolder: data, receivers: "in-process" });
    onTestFinished(() => second.close());
    expect(clock.now()).toBe(virtualEpochMs + 6 * minuteMs);
    await second.advance(30 * minuteMs - 1);
    expect(target.received).toHaveLength(3);
    await second.advance(1);
    expect(target.received).toHaveLength(4);
  });

  it("begins at the clock's own instant if that is later or the folder is empty", async () => {
    const data = folder();
    const clock = virtualClock(virtualEpochMs + hourMs);
    const server = await startReference({ clock, dataFolder: data });
    await server.close();
    expect(clock.now()).toBe(virtualEpochMs + hourMs);
  });
});

describe("a folder", () => {
  it("is created if missing, for its owner only", () => {
    const data = join(folder(), "new", "one");
    diskStore(data).close();
    expect(statSync(join(data, "conformance.sqlite")).mode & 0o777).toBe(0o600);
  });

  it("serves one server at a time", () => {
    const data = folder();
    const first = diskStore(data);
    onTestFinished(() => first.close());
    expect(() => diskStore(data)).toThrow(/Another server uses it/);
  });

  it.each(["/proc/x", "/proc/x/y", "/dev/null", "/dev/null/x"])("%s is refused at once", (data) => {
    expect(() => diskStore(data)).toThrow(DataFolderProblem);
    expect(() => diskStore(data)).toThrow(/^State cannot be kept in [^\n]*\. Name another folder\.$/);
  });

  it.each([
    ["is a file", (data: string) => writeFileSync(data, "")],
    [
      "holds another file of that name",
      (data: string) => {
        diskStore(data).close();
        writeFileSync(join(data, "conformance.sqlite"), "no database, but long enough to be taken for one".repeat(50));
      },
    ],
  ])("that %s is a problem told in one line", (_name, prepare) => {
    const data = join(folder(), "data");
    prepare(data);
    expect(() => diskStore(data)).toThrow(DataFolderProblem);
    expect(() => diskStore(data)).toThrow(/^State cannot be kept in .*\. Name another folder\.$/);
  });

  it("is opened without a warning of Node", () => {
    const data = folder();
    const module = new URL("./disk-store.ts", import.meta.url).href;
    const script = `(await import(${JSON.stringify(module)})).diskStore(${JSON.stringify(data)}).close()`;
    const { stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });
});

describe("a process that is killed as soon as its events are emitted", () => {
  it("has them on disk", async () => {
    const data = folder();
    const target = await outboxFixture().receiver(204);
    const script = fileURLToPath(new URL("./testing/emit-and-die.ts", import.meta.url));
    expect(spawnSync(process.execPath, [script, data, target.url, "30"]).signal).toBe("SIGKILL");
    expect(target.received).toHaveLength(0);
    const second = outboxFixture({ store: diskStore(data) });
    // On a busy machine, one advance does not wait for all deliveries, so the test advances several times.
    for (let attempt = 0; attempt < 100 && target.received.length < 30; attempt += 1) await second.advance(0);
    const numbers = target.received.map(({ json }) => (json["data"] as { number: number }).number);
    expect(numbers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 30 }, (_, number) => number));
  });
});

describe("a server that is killed between two retries", () => {
  /**
   * Starts a server in a separate process. `move` advances the server's clock by seconds, and `kill` kills the process.
   */
  async function startKillable(data: string) {
    const script = fileURLToPath(new URL("./testing/killed-server.ts", import.meta.url));
    const child = spawn(process.execPath, [script, data], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [baseUrl] = (await once(createInterface(child.stdout), "line")) as [string];
    const post = async (url: string, body: unknown) => {
      const { statusCode, body: answer } = await request(new URL(url, baseUrl), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      await answer.dump();
      expect(statusCode).toBe(200);
    };
    return {
      move: (seconds: number) => post("/clock/advance", { seconds }),
      kill: async () => {
        const gone = once(child, "exit");
        child.kill("SIGKILL");
        await gone;
      },
    };
  }

  it("loses no delivery and adds none", async () => {
    const data = folder();
    const count = 20;
    const target = await testReceiver(() => 0, [...Array<number>(count * 3).fill(500), 204]);
    onTestFinished(() => target.close());
    const seed = outboxFixture({ store: diskStore(data) });
    const { id } = seed.outbox.add(newWebhook(target.url));
    for (let number = 0; number < count; number += 1) seed.outbox.emit(agentEvent({ data: { number } }));
    await seed.outbox.close();
    const arrived = (from: number) =>
      target.received
        .slice(from)
        .map(({ json }) => (json["data"] as { number: number }).number)
        .toSorted((one, other) => one - other);
    const everyone = Array.from({ length: count }, (_, number) => number);

    const first = await startKillable(data);
    await first.move(0);
    expect(arrived(0)).toEqual(everyone);
    await first.move(60);
    expect(arrived(count)).toEqual(everyone);
    await first.kill();

    // A virtual clock continues at the end of the last attempt. Due times do not change.
    const second = await startKillable(data);
    await second.move(4 * 60 + 59);
    expect(target.received).toHaveLength(2 * count);
    await second.move(1);
    expect(arrived(2 * count)).toEqual(everyone);
    await second.kill();

    const third = await startKillable(data);
    await third.move(3 * 3600);
    expect(arrived(3 * count)).toEqual(everyone);
    await third.move(3 * 3600);
    expect(target.received).toHaveLength(4 * count);
    await third.kill();

    const last = outboxFixture({ store: diskStore(data) });
    const records = last.outbox.deliveriesOf(id);
    expect(records).toHaveLength(count);
    const due = [0, minuteMs, 6 * minuteMs, 36 * minuteMs].map((ms) => virtualEpochMs + ms);
    for (const { state, attempts } of records) {
      expect(state).toBe("delivered");
      expect(attempts.map(({ atMs }) => atMs)).toEqual(due);
    }
  });
});
