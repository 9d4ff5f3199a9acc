import { afterEach, describe, expect, it } from "vitest";

import type { Exchange } from "../evidence/exchange.ts";
import { type Deadlines, defaultDeadlines } from "./deadlines.ts";
import { hostilities, type HostileServer, startAnsweringServer, startHostile } from "./testing/hostile.ts";
import { openTransport, type OutgoingRequest, type Transport } from "./transport.ts";

const open: (HostileServer | Transport)[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

function transport(deadlines: Deadlines = defaultDeadlines): Transport {
  const opened = openTransport({ now: () => performance.now(), clockOffsetMs: () => 0, deadlines });
  open.push(opened);
  return opened;
}

async function serve(starting: Promise<HostileServer>): Promise<string> {
  const server = await starting;
  open.push(server);
  return server.baseUrl;
}

const post = (url: string): OutgoingRequest => ({
  method: "POST",
  url,
  headers: [["Authorization", "Bearer k"]],
  body: '{"é":1}',
  key: "main",
});

/** Returns the facts of an exchange that `open` and `openFast` must record alike. Leaves out times and ids. */
const facts = ({ key, request, answer }: Exchange) =>
  answer.kind === "answered"
    ? {
        key,
        request,
        status: answer.status,
        headers: answer.headers.filter(([name]) => name !== "Date"),
        body: answer.body,
        ending: answer.ending,
      }
    : { key, request, reason: answer.reason };

describe("a fast request", () => {
  it("records the same facts as the transport", async () => {
    const url = await serve(
      startAnsweringServer((request, response, body) => {
        response.writeHead(429, { "X-One": "1", "x-two": ["a", "b"], "Content-Type": "application/json" });
        response.end(`${request.method} ${request.headers.authorization} ${body}`);
      }),
    );
    const wire = transport();
    const [lean, full] = [await wire.openFast(post(url)).finished, await wire.open(post(url)).finished];
    expect(facts(lean)).toEqual(facts(full));
    expect(lean.id).not.toBe(full.id);
  });

  it("is sent again if the server closed an idle connection", async () => {
    let connections = 0;
    const url = await serve(
      startHostile((socket) => {
        connections += 1;
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        socket.once("data", () => socket.resetAndDestroy());
      }),
    );
    const wire = transport();
    const statuses: unknown[] = [];
    for (let sent = 0; sent < 3; sent++) statuses.push((await wire.openFast(post(url)).finished).answer);
    expect(statuses).toEqual(Array.from({ length: 3 }, () => expect.objectContaining({ status: 200 })));
    expect(connections).toBe(3);
  });

  it.each(Object.entries(hostilities))("ends against a target that %s", async (_, hostility) => {
    const url = await serve(startHostile(hostility));
    const impatient = { connectMs: 5000, headMs: 300, silenceMs: 300, exchangeMs: 1500 };
    const { answer } = await transport(impatient).openFast(post(url)).finished;
    expect(["answered", "unanswered"]).toContain(answer.kind);
  });

  it("reads no more than 100,000 chunks", async () => {
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    const url = await serve(startHostile((socket) => void socket.write(head + "1\r\na\r\n".repeat(150_000))));
    const { answer } = await transport().openFast(post(url)).finished;
    expect(answer).toMatchObject({ ending: { kind: "deadline", detail: "more than 100000 chunks of body" } });
  });

  it("says why if nothing listens", async () => {
    const { answer } = await transport().openFast(post("http://127.0.0.1:1/")).finished;
    expect(answer).toMatchObject({ kind: "unanswered", reason: "unreachable" });
  });
});
