import { createHmac } from "node:crypto";
import { createServer } from "node:http";

import { afterEach, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../base/network/network.ts";
import { freePort } from "../base/testing/network.ts";
import { type Receiver, type ReceiverOptions, ReceiverError, type Reply } from "./receiver.ts";
import { headOf, openSocket, post, createSettableClock, startLocal } from "./testing/senders.ts";

const open: Receiver[] = [];
async function receiverWith(options: Partial<ReceiverOptions> = {}): Promise<Receiver> {
  const receiver = await startLocal(options);
  open.push(receiver);
  return receiver;
}
afterEach(() => Promise.all(open.splice(0).map((receiver) => receiver.close())));

const longMs = 10_000;
const secret = "whsec_7Fq2";
const signatureOf = (key: string, bytes: Uint8Array): string => createHmac("sha256", key).update(bytes).digest("hex");

describe("a delivery", () => {
  it("is recorded as sent, with the times at which it was complete", async () => {
    const time = createSettableClock();
    const receiver = await receiverWith({ time });
    const hook = receiver.open("plain", { secret, replies: [] });
    const body = '{ "id":"evt_1",  "text":"Zoë – 世界 🦜" }';
    const socket = await openSocket(hook.url);
    socket.write(
      headOf(
        hook.url,
        "X-Event-TYPE: agent.invoked",
        "x-twice: 1",
        "X-Twice: 2",
        `Content-Length: ${Buffer.byteLength(body)}`,
      ),
    );
    time.set(1500, 60_000, 90_000);
    socket.end(body);
    expect(await hook.waitForDeliveries(1, longMs)).toBe(true);
    expect(receiver.deliveries()).toEqual([
      {
        id: "d1",
        hook: "plain",
        attempt: 1,
        request: {
          method: "POST",
          url: new URL(hook.url).pathname,
          headers: [
            ["Host", "receiver"],
            ["X-Event-TYPE", "agent.invoked"],
            ["x-twice", "1"],
            ["X-Twice", "2"],
            ["Content-Length", String(Buffer.byteLength(body))],
          ],
          body: { kind: "text", text: body, bytes: Buffer.byteLength(body) },
        },
        peer: "127.0.0.1",
        receivedMs: 1500,
        clockMs: 60_000,
        clockAtMostMs: 90_000,
        computedSignature: signatureOf(secret, Buffer.from(body)),
        reply: { kind: "answered", status: 204, endMs: 1500 },
      },
    ]);
  });

  it.each([
    ["empty", Buffer.alloc(0), "none"],
    ["not UTF-8", Buffer.from([0xff, 0x00, 0xfe]), "base64"],
    ["long", Buffer.alloc(1024 * 1024, "a"), "cut"],
  ])("is signed over its raw bytes where it is %s", async (_what, bytes, kind) => {
    const receiver = await receiverWith();
    const hook = receiver.open("raw", { secret, replies: [] });
    await post(hook.url, bytes);
    const [delivery] = hook.deliveries();
    expect(delivery?.request.body.kind).toBe(kind);
    expect(delivery?.computedSignature).toBe(signatureOf(secret, bytes));
  });

  it.each(["GET", "HEAD", "OPTIONS"] as const)(
    "is not recorded if the sender only tests the address, by %s",
    async (method) => {
      const receiver = await receiverWith();
      const hook = receiver.open("read", { secret: null, replies: [{ kind: "reset" }] });
      expect((await post(hook.url, null, { method })).status).toBe(200);
      expect(hook.deliveries()).toEqual([]);
      expect(receiver.ignored()).toMatchObject({ reachabilityRequests: 1 });
    },
  );

  it("counts its attempts by hook, and its id by run", async () => {
    const receiver = await receiverWith();
    const [one, two] = ["one", "two"].map((name) => receiver.open(name, { secret: null, replies: [] }));
    for (const hook of [one, two, one]) await post(hook?.url ?? "", "{}");
    expect(receiver.deliveries().map(({ id, hook, attempt }) => [id, hook, attempt])).toEqual([
      ["d1", "one", 1],
      ["d2", "two", 1],
      ["d3", "one", 2],
    ]);
  });

  it("reaches its hook through a tunnel that adds a path or a query", async () => {
    const receiver = await receiverWith({ publicUrl: "https://tunnel.example/hook/" });
    const hook = receiver.open("tunnelled", { secret: null, replies: [] });
    expect(hook.url).toMatch(/^https:\/\/tunnel\.example\/hook\/[\w-]{24}\/tunnelled$/);
    const { pathname } = new URL(hook.url);
    for (const path of [pathname, pathname.replace("/hook", ""), `${pathname}?from=tunnel`])
      expect((await post(`http://${receiver.address}${path}`, "{}")).status).toBe(204);
    expect(hook.deliveries()).toHaveLength(3);
  });

  it("to an unknown address gets 404, and is only counted", async () => {
    const receiver = await receiverWith();
    const hook = receiver.open("mine", { secret: null, replies: [] });
    for (const url of [hook.url.replace(/mine$/, "yours"), `${receiver.baseUrl}/guess/mine`, receiver.baseUrl])
      expect((await post(url, "{}")).status).toBe(404);
    expect(receiver.deliveries()).toEqual([]);
    expect(receiver.ignored()).toEqual({ unknown: 3, reachabilityRequests: 0, malformed: 0, incomplete: 0 });
  });
});

describe("a reply", () => {
  it.each<[string, Reply, { readonly status: number; readonly text: string }]>([
    ["200 with a body", { kind: "status", status: 200, body: "ok" }, { status: 200, text: "ok" }],
    ["201", { kind: "status", status: 201 }, { status: 201, text: "" }],
    ["204, without its body", { kind: "status", status: 204, body: "never" }, { status: 204, text: "" }],
    ["299", { kind: "status", status: 299 }, { status: 299, text: "" }],
    ["302", { kind: "status", status: 302, headers: [["Location", "/"]] }, { status: 302, text: "" }],
    ["404", { kind: "status", status: 404 }, { status: 404, text: "" }],
    ["503", { kind: "status", status: 503, body: "later" }, { status: 503, text: "later" }],
  ])("is %s", async (_what, reply, answer) => {
    const receiver = await receiverWith();
    const hook = receiver.open("scripted", { secret: null, replies: [reply] });
    expect(await post(hook.url, "{}")).toEqual({ ...answer, connection: "close" });
    expect(hook.deliveries()).toMatchObject([{ reply: { kind: "answered", status: answer.status } }]);
  });

  it("follows the plan by attempt, and then repeats the last entry", async () => {
    const receiver = await receiverWith();
    const replies = [500, 404, 204].map((status): Reply => ({ kind: "status", status }));
    const hook = receiver.open("scripted", { secret: null, replies });
    const statuses: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt++) statuses.push((await post(hook.url, "{}")).status);
    expect(statuses).toEqual([500, 404, 204, 204, 204]);
  });

  it.each([
    ["the valid signature", secret, [signatureOf(secret, Buffer.from("{}"))], 204],
    ["the signature of another secret", secret, [signatureOf("other", Buffer.from("{}"))], 401],
    ["upper-case letters", secret, [signatureOf(secret, Buffer.from("{}")).toUpperCase()], 401],
    ["no signature", secret, [], 401],
    ["two signatures", secret, [signatureOf(secret, Buffer.from("{}")), "0"], 401],
    ["a hook without a secret", null, [signatureOf("", Buffer.from("{}"))], 401],
  ])("verifies %s", async (_what, ofHook, signatures, status) => {
    const receiver = await receiverWith();
    const hook = receiver.open("verifying", { secret: ofHook, replies: [{ kind: "verify" }] });
    const socket = await openSocket(hook.url);
    socket.end(
      headOf(hook.url, ...signatures.map((each) => `x-service-signature: ${each}`), "Content-Length: 2") + "{}",
    );
    await hook.waitForDeliveries(1, longMs);
    expect(hook.deliveries()).toMatchObject([{ reply: { kind: "answered", status } }]);
  });

  it("is held until the release of the hook, and sent at once afterwards", async () => {
    const time = createSettableClock();
    const receiver = await receiverWith({ time });
    const hook = receiver.open("held", { secret: null, replies: [{ kind: "held", status: 202 }] });
    const posted = post(hook.url, "{}");
    await hook.waitForDeliveries(1, longMs);
    expect(hook.deliveries()).toMatchObject([{ reply: { kind: "held" } }]);
    time.set(2000);
    hook.release();
    expect((await posted).status).toBe(202);
    expect((await post(hook.url, "{}")).status).toBe(202);
    expect(hook.deliveries()).toMatchObject([
      { receivedMs: 0, reply: { kind: "answered", status: 202, endMs: 2000 } },
      { receivedMs: 2000, reply: { kind: "answered", status: 202, endMs: 2000 } },
    ]);
  });

  it.each<[Reply, object, object]>([
    [{ kind: "held", status: 200 }, { kind: "held" }, { kind: "silent", leftMs: 3000 }],
    [{ kind: "silence" }, { kind: "silent", leftMs: null }, { kind: "silent", leftMs: 3000 }],
    [
      { kind: "endless", status: 200 },
      { kind: "endless", status: 200, leftMs: null },
      { kind: "endless", status: 200, leftMs: 3000 },
    ],
  ])("%o tells when the sender left", async (reply, before, after) => {
    const time = createSettableClock();
    const changes: unknown[] = [];
    const changed = Promise.withResolvers<void>();
    const receiver = await receiverWith({ time });
    receiver.onDelivery((delivery) => {
      if (changes.push(delivery.reply) === 2) changed.resolve();
    });
    const hook = receiver.open("waiting", { secret: null, replies: [reply] });
    const leaving = new AbortController();
    const posted = post(hook.url, "{}", { signal: leaving.signal });
    await hook.waitForDeliveries(1, longMs);
    expect(hook.deliveries()).toMatchObject([{ reply: before }]);
    time.set(3000);
    leaving.abort();
    await expect(posted).rejects.toThrow("aborted");
    await changed.promise;
    expect(hook.deliveries()).toMatchObject([{ reply: after }]);
    expect(changes).toEqual([before, after]);
  });

  it("is a reset", async () => {
    const receiver = await receiverWith();
    const hook = receiver.open("resetting", { secret: null, replies: [{ kind: "reset" }] });
    await expect(post(hook.url, "{}")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(hook.deliveries()).toMatchObject([{ reply: { kind: "reset" } }]);
  });

  it("is 204 to a delivery that is only counted, whatever was planned", async () => {
    const receiver = await receiverWith({ storage: { stored: 0, bytes: 0 } });
    const hook = receiver.open("failing", { secret: null, replies: [{ kind: "status", status: 500 }] });
    const statuses = new Set<number>();
    while (hook.droppedCount() === 0) statuses.add((await post(hook.url, "{}")).status);
    expect([...statuses]).toEqual([500, 204]);
    expect((await post(hook.url, "a".repeat(50_000))).status).toBe(204);
    expect(hook.droppedCount()).toBe(2);
  });

  it("stays open for at most 64 senders; the oldest is dropped", async () => {
    const receiver = await receiverWith();
    const hook = receiver.open("silent", { secret: null, replies: [{ kind: "silence" }] });
    const first = post(hook.url, "first");
    await hook.waitForDeliveries(1, longMs);
    const others = Array.from({ length: 64 }, () => post(hook.url, "{}"));
    await expect(first).rejects.toMatchObject({ code: "ECONNRESET" });
    await hook.waitForDeliveries(65, longMs);
    const ended = Promise.allSettled(others);
    const [dropped, ...silent] = hook.deliveries().map(({ reply }) => reply.kind);
    expect(dropped).toBe("reset");
    expect(new Set(silent)).toEqual(new Set(["silent"]));
    await receiver.close();
    await ended;
    expect(hook.deliveries().at(-1)?.reply).toEqual({ kind: "silent", leftMs: null });
  });
});

describe("a wait for deliveries", () => {
  it("ends at the count, at the timeout, or when the receiver closes", async () => {
    const receiver = await receiverWith();
    const hook = receiver.open("awaited", { secret: null, replies: [] });
    const waits = [
      hook.waitForDeliveries(1, longMs),
      hook.waitForDeliveries(2, longMs),
      hook.waitForDeliveries(3, longMs),
    ];
    await post(hook.url, "{}");
    expect(await waits[0]).toBe(true);
    expect(await hook.waitForDeliveries(2, 1)).toBe(false);
    await post(hook.url, "{}");
    expect(await waits[1]).toBe(true);
    await receiver.close();
    expect(await waits[2]).toBe(false);
    expect(await hook.waitForDeliveries(1, longMs)).toBe(true);
    expect(await hook.waitForDeliveries(3, longMs)).toBe(false);
  });
});

describe("a receiver", () => {
  it("says in one line that it cannot listen", async () => {
    const receiver = await receiverWith();
    await expect(startLocal({ listen: receiver.address })).rejects.toThrow(
      new ReceiverError(
        `The receiver cannot listen on ${receiver.address} (EADDRINUSE). Give another host and port under \`webhooks.listen\`.`,
      ),
    );
  });

  it("is opened again at the same address, and continues its counts", async () => {
    const before = await receiverWith();
    const replies: Reply[] = [500, 204].map((status) => ({ kind: "status", status }));
    const plan = { secret, replies, otherSecrets: ["second"], takesReads: true, since: "1.1" };
    const { url } = before.open("kept", plan);
    expect((await post(url, "{}")).status).toBe(500);
    const record = before.record();
    expect(record).toMatchObject({ listen: before.address, publicUrl: null, deliveries: 1 });
    await before.close();
    const after = await receiverWith({ ...record, resumed: record });
    expect((await post(url, "{}")).status).toBe(204);
    expect(after.deliveries()).toMatchObject([{ id: "d2", hook: "kept", attempt: 2 }]);
    expect(after.record()).toMatchObject({
      deliveries: 2,
      hooks: [{ ...plan, name: "kept", arrivals: 2, isReleased: false }],
    });
  });

  it("does not test itself without a public URL", async () => {
    expect(await (await receiverWith()).reachable()).toBeNull();
  });

  it("reaches itself through its public URL, and records nothing", async () => {
    const port = await freePort();
    const receiver = await receiverWith({ listen: `127.0.0.1:${port}`, publicUrl: `http://127.0.0.1:${port}/` });
    expect(await receiver.reachable()).toBeNull();
    expect(receiver.deliveries()).toEqual([]);
  });

  it("names the response of another server", async () => {
    const other = createServer((_request, response) => response.writeHead(502).end("no tunnel"));
    const port = await listenOnLoopback(other);
    const receiver = await receiverWith({ publicUrl: `http://127.0.0.1:${port}` });
    expect(await receiver.reachable()).toMatch(/does not lead to the receiver: something else answered 502\. Look/);
    other.close();
  });

  it("says that nothing responds", async () => {
    const receiver = await receiverWith({ publicUrl: `http://127.0.0.1:${await freePort()}` });
    expect(await receiver.reachable()).toMatch(/does not lead to the receiver: .*ECONNREFUSED.*\. Look/);
  });
});
