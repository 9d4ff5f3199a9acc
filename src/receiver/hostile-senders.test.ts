import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, describe, expect, it } from "vitest";

import { maxBodyBytes } from "./request-handler.ts";
import { type Hook, type Receiver, startReceiver } from "./receiver.ts";
import { closeOf, headOf, openSocket, post, createSettableClock } from "./testing/senders.ts";

let receiver: Receiver;
afterEach(() => receiver.close());

/** Deadline for tests with senders that are not slow on purpose. It is long, because the machine may be busy. */
const patientMs = 60_000;

async function openHook(requestDeadlineMs = 300): Promise<Hook> {
  receiver = await startReceiver({
    listen: "127.0.0.1:0",
    publicUrl: null,
    time: createSettableClock(),
    requestDeadlineMs,
  });
  return receiver.open("target", { secret: "whsec_7Fq2", replies: [] });
}

/** Waits until a condition is true, for at most five seconds. */
async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !isSo(); tries++) await sleep(10);
  expect(isSo()).toBe(true);
}

describe("a hostile sender", () => {
  it("that announces more than it sends is disconnected, and leaves no delivery", async () => {
    const hook = await openHook();
    const socket = await openSocket(hook.url);
    socket.write(`${headOf(hook.url, "Content-Length: 1000")}{"half":`);
    await closeOf(socket);
    expect(receiver.deliveries()).toEqual([]);
    await until(() => receiver.ignored().incomplete === 1);
  });

  it("that sends its body byte by byte is disconnected at the deadline", async () => {
    const hook = await openHook();
    const socket = await openSocket(hook.url);
    socket.write(headOf(hook.url, "Content-Length: 100000"));
    const drip = setInterval(() => socket.write("a"), 20);
    await closeOf(socket);
    clearInterval(drip);
    expect(receiver.deliveries()).toEqual([]);
  });

  it.each([
    ["drips its head", (url: string) => headOf(url).slice(0, 30)],
    ["sends nothing", () => ""],
  ])("that %s is cut off at the deadline", async (_what, bytes) => {
    const hook = await openHook();
    const socket = await openSocket(hook.url);
    socket.write(bytes(hook.url));
    await closeOf(socket);
    expect(receiver.deliveries()).toEqual([]);
  });

  it("that disconnects in mid-body leaves no delivery", async () => {
    const hook = await openHook();
    const socket = await openSocket(hook.url);
    socket.write(`${headOf(hook.url, "Content-Length: 1000")}{"half":`);
    await sleep(20);
    socket.resetAndDestroy();
    await until(() => receiver.ignored().incomplete === 1);
    expect(receiver.deliveries()).toEqual([]);
  });

  it("that sends more than it announced gets a response, and the rest is no delivery", async () => {
    const hook = await openHook();
    const socket = await openSocket(hook.url);
    socket.write(`${headOf(hook.url, "Content-Length: 2")}{} and more`);
    await hook.waitForDeliveries(1, 5000);
    await closeOf(socket.resume());
    expect(hook.deliveries()).toMatchObject([{ request: { body: { kind: "text", text: "{}" } } }]);
  });

  it("that sends an endless body gets 413, is disconnected, and is recorded", async () => {
    const hook = await openHook(patientMs);
    const answered = post(hook.url, Buffer.alloc(maxBodyBytes + 1024 * 1024, "a")).catch(() => null);
    expect(await hook.waitForDeliveries(1, patientMs)).toBe(true);
    await answered;
    const [delivery] = hook.deliveries();
    expect(delivery).toMatchObject({ computedSignature: null, reply: { kind: "answered", status: 413 } });
    expect(delivery?.request.body).toMatchObject({ kind: "cut" });
  });

  it.each([
    ["bytes that are not HTTP", Buffer.from([0, 255, 17, 13, 10, 13, 10, 200, 31])],
    ["an endless request line", `POST /${"a".repeat(100_000)}`],
    ["a length that is not a number", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: many\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
    ["a chunk without a size", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n"],
    ["a CONNECT", "CONNECT example:443 HTTP/1.1\r\nHost: example:443\r\n\r\n"],
    ["an upgrade", "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"],
  ])("that sends %s is closed, and the receiver goes on", async (_what, bytes) => {
    const hook = await openHook();
    const socket = await openSocket(hook.url);
    socket.write(bytes);
    await closeOf(socket.resume());
    expect((await post(hook.url, "{}")).status).toBe(204);
    expect(receiver.deliveries()).toHaveLength(1);
  });

  it("that sends 200 requests at once causes 200 deliveries, each with its own time", async () => {
    const hook = await openHook(patientMs);
    const bodies = Array.from({ length: 200 }, (_, index) => `{"event":${index}}`);
    const statuses = await Promise.all(bodies.map(async (body) => (await post(hook.url, body)).status));
    expect(new Set(statuses)).toEqual(new Set([204]));
    const texts = hook.deliveries().map(({ request: { body } }) => (body.kind === "text" ? body.text : body.kind));
    expect(texts.toSorted()).toEqual(bodies.toSorted());
    expect(hook.deliveries().map(({ attempt }) => attempt)).toEqual(bodies.map((_, index) => index + 1));
  });

  it("that floods one webhook is counted there, and deliveries to others are stored", async () => {
    const hook = await openHook(patientMs);
    const other = receiver.open("other", { secret: null, replies: [] });
    for (let sent = 0; sent < 50; sent++) await post(hook.url, "{}");
    const large = `"${"a".repeat(240 * 1024)}"`;
    for (let sent = 0; sent < 16; sent++) await post(hook.url, large).catch(() => null);
    expect((await post(other.url, "{}")).status).toBe(204);
    expect(other.deliveries()).toHaveLength(1);
    expect(hook.droppedCount()).toBeGreaterThan(0);
    expect(receiver.droppedByHook()).toEqual({ target: hook.droppedCount() });
  });

  it("that leaves connections open does not delay the close", async () => {
    const hook = await openHook();
    const sockets = await Promise.all(Array.from({ length: 50 }, () => openSocket(hook.url)));
    for (const socket of sockets) socket.write(headOf(hook.url, "Content-Length: 10"));
    await receiver.close();
    await Promise.all(sockets.map(closeOf));
    expect(receiver.deliveries()).toEqual([]);
  });
});
