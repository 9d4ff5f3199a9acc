import { connect, type Socket } from "node:net";

import { keyWritings } from "../../../evidence/testing/traces.ts";
import { type Harm, type Modes } from "./target.ts";

/**
 * Returns an attack on a webhook receiver: it keeps `atOnce` connections open, and sends the same bytes on each. The attack returns a
 * function that ends it.
 */
const floodWith =
  (atOnce: number, bytes: (url: URL, key: string) => string | Buffer<ArrayBuffer>, then: "close" | "go on" = "close") =>
  (address: string, key: string): (() => void) => {
    const url = new URL(address);
    const open = new Set<Socket>();
    let isOver = false;
    // The bytes are prepared once, because preparing them for each connection would slow down the flood.
    const text = Buffer.from(bytes(url, key));
    const begin = (): void => {
      if (isOver) return;
      const socket = connect(Number(url.port), url.hostname);
      open.add(socket);
      const more = (): void => {
        if (then === "close") return void socket.end(text);
        while (!socket.destroyed && socket.write(text));
        if (!socket.destroyed) socket.once("drain", more);
      };
      socket.on("connect", more);
      socket.on("error", () => {});
      socket.resume();
      socket.on("close", () => {
        open.delete(socket);
        setTimeout(begin, 5).unref();
      });
    };
    for (let at = 0; at < atOnce; at++) begin();
    return () => {
      isOver = true;
      for (const socket of open) socket.destroy();
    };
  };

const post = ({ pathname }: URL, body: string | null, ...lines: readonly string[]): string =>
  [
    `POST ${pathname} HTTP/1.1`,
    "host: a",
    "content-type: application/json",
    ...lines,
    ...(body === null ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
    "",
    body ?? "",
  ].join("\r\n");

const deliver = (harm: Extract<Harm, { kind: "deliver" }>["harm"]): Harm => ({ kind: "deliver", harm });

/** Ways to attack the harness's own webhook receiver. */
export const deliveries: Modes = {
  "a flood of small deliveries": deliver(floodWith(20, (url) => post(url, '{"id":"e"}'))),
  "a flood of deliveries of 200 kB": deliver(
    floodWith(10, (url) => post(url, JSON.stringify({ id: "m".repeat(200_000) }))),
  ),
  "a flood of deliveries of 7 MB": deliver(floodWith(8, (url) => post(url, "m".repeat(7_000_000)))),
  "a delivery without end": deliver(
    floodWith(
      4,
      ({ pathname }) =>
        `POST ${pathname} HTTP/1.1\r\nhost: a\r\ncontent-length: 999999999999\r\n\r\n`.padEnd(65_536, "a"),
      "go on",
    ),
  ),
  "a delivery of chunks without end": deliver((address, key) => {
    let isFirst = true;
    return floodWith(
      1,
      ({ pathname }) => {
        const head = `POST ${pathname} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n`;
        const text = `${isFirst ? head : ""}${"1\r\na\r\n".repeat(10_000)}`;
        isFirst = false;
        return text;
      },
      "go on",
    )(address, key);
  }),
  "deliveries to nowhere": deliver(
    floodWith(20, () => "POST /nowhere/at-all HTTP/1.1\r\nhost: a\r\ncontent-length: 9999999\r\n\r\naaaa"),
  ),
  "deliveries that are no HTTP": deliver(floodWith(20, () => Buffer.from([0, 255, 17, 13, 10, 13, 10, 200, 31]))),
  "connections that say nothing": deliver((address) => {
    const url = new URL(address);
    const sockets = Array.from({ length: 300 }, () => connect(Number(url.port), url.hostname).on("error", () => {}));
    return () => sockets.forEach((socket) => socket.destroy());
  }),
  "deliveries with 60 kB of headers": deliver(
    floodWith(10, (url) => post(url, "{}", ...Array.from({ length: 12 }, (_, at) => `x-${at}: ${"a".repeat(4900)}`))),
  ),
  "deliveries with the key in every writing": deliver((address, key) =>
    floodWith(2, (url) =>
      post(
        url,
        JSON.stringify(Object.fromEntries(Object.entries(keyWritings).map(([how, write]) => [how, write(key)]))),
        `x-key: ${key}`,
      ),
    )(address, key),
  ),
  "deliveries that are nested deep": deliver(
    floodWith(2, (url) => post(url, `${'{"data":'.repeat(20_000)}1${"}".repeat(20_000)}`)),
  ),
  "deliveries of half a surrogate": deliver(
    floodWith(2, (url) => post(url, '{"id":"\\ud800","type":"\\udc00","agent_id":"__proto__","__proto__":{}}')),
  ),
};
