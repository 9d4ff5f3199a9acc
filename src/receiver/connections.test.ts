import { createServer } from "node:http";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";

import { afterEach, describe, expect, it } from "vitest";

import { limitConnections, maxConnections } from "./server.ts";
import type { Hook, Receiver } from "./receiver.ts";
import { headOf, openSocket, post, startLocal } from "./testing/senders.ts";

let receiver: Receiver;
let sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await receiver.close();
});

async function openHook(): Promise<Hook> {
  receiver = await startLocal();
  return receiver.open("target", { secret: null, replies: [] });
}

async function openSockets(url: string, count: number, bytes = ""): Promise<void> {
  const opened = await Promise.all(Array.from({ length: count }, () => openSocket(url)));
  for (const socket of opened) socket.write(bytes);
  sockets = [...sockets, ...opened.map((socket) => socket.resume())];
}

const elsewhere = `POST /elsewhere HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n`;

describe("a receiver with more connections than it keeps open", () => {
  it.each([
    ["send nothing", () => ""],
    ["send half a head", ({ url }: Hook) => headOf(url).slice(0, 40)],
    ["deliver elsewhere, without an end", () => elsewhere],
    ["are not HTTP", () => "\0\r\n\r\n"],
    ["deliver half a body", ({ url }: Hook) => headOf(url, "Content-Length: 1000")],
  ])("takes every delivery, although others %s", async (_what, bytesFor) => {
    const hook = await openHook();
    const bytes = bytesFor(hook);
    for (let count = 0; count < 3; count++) {
      await openSockets(hook.url, Math.floor(maxConnections / 2), bytes);
      expect((await post(hook.url, `{"event":${count}}`)).status).toBe(204);
    }
    expect(hook.deliveries()).toHaveLength(3);
  });

  it.each([
    ["young", 0],
    ["old", 1000],
  ])("closes idle connections before a slow delivery, if all are %s", (_what, ageMs) => {
    const server = createServer();
    let nowMs = 0;
    const connections = limitConnections(server, () => nowMs);
    const open = (): PassThrough => {
      const connection = new PassThrough();
      server.emit("connection", connection);
      return connection;
    };
    const slow = open();
    connections.mark(slow, "incomplete");
    const idle = Array.from({ length: maxConnections - 1 }, open);
    nowMs = ageMs;
    open();
    expect([slow.destroyed, idle.filter(({ destroyed }) => destroyed).length]).toEqual([false, 1]);
  });

  it.each([
    ["counts young ones that it closes as perhaps deliveries", 999, 1],
    ["does not count old ones that it closes", 1000, 0],
  ])("%s", (_what, ageMs, refused) => {
    const server = createServer();
    let nowMs = 0;
    const connections = limitConnections(server, () => nowMs);
    for (let count = 0; count < maxConnections; count++) server.emit("connection", new PassThrough());
    nowMs = ageMs;
    server.emit("connection", new PassThrough());
    expect(connections.refusedCount()).toBe(refused);
  });

  it("never closes a delivery that waits for its reply", async () => {
    receiver = await startLocal();
    const hook = receiver.open("held", { secret: null, replies: [{ kind: "held", status: 200 }] });
    const held = post(hook.url, "{}");
    await hook.waitForDeliveries(1, 60_000);
    await openSockets(hook.url, maxConnections);
    hook.release();
    expect((await held).status).toBe(200);
  });
});
