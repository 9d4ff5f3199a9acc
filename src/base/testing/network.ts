import { once } from "node:events";
import { createServer, type IncomingMessage, request, type RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { listenOnLoopback } from "../network/network.ts";

/** A forward proxy on loopback for tests. It connects to one port of this machine, whatever host is asked for. */
export interface ForwardProxy {
  readonly url: string;
  /** The requests that the proxy has received: `CONNECT host:port`, or a method and a whole URL. */
  readonly requests: string[];
  readonly close: () => void;
}

/** @param allowed the required `Proxy-Authorization`; `null` for none */
export async function startProxy(port: number, allowed: string | null = null): Promise<ForwardProxy> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const isLetIn = ({ headers }: IncomingMessage): boolean =>
    allowed === null || headers["proxy-authorization"] === allowed;
  const server = createServer((incoming, response) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    if (!isLetIn(incoming)) return void response.writeHead(407).end();
    forwardTo(port)(incoming, response);
  });
  server.on("connection", (socket) => void sockets.add(socket));
  server.on("connect", (incoming, socket: Socket, head: Buffer) => {
    requests.push(`CONNECT ${incoming.url}`);
    if (!isLetIn(incoming)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const onward = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
  });
  const ownPort = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${ownPort}`,
    requests,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Forwards a request to a port of this machine, and streams the response back. */
export const forwardTo =
  (port: number): RequestListener =>
  (incoming, response) => {
    const { method, headers } = incoming;
    const { pathname, search } = new URL(incoming.url ?? "/", "http://any");
    const onward = request({ host: "127.0.0.1", port, method, path: pathname + search, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    incoming.pipe(onward);
  };

/** Returns a port of this machine that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLoopback(server);
  server.close();
  await once(server, "close");
  return port;
}

/** Paths of PEM files: a private authority, and the certificates and keys of a server and a client. */
export interface TestCa {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly clientCert: string;
  readonly clientKey: string;
}

/** Creates the PEM files of a test authority in an existing folder, with the command openssl. */
export function createTestCa(folder: string, host: string): TestCa {
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => void execFileSync("openssl", args, { stdio: "ignore" });
  const freshKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const ca = { cert: file("ca.pem"), key: file("ca.key") };
  const self = ["-keyout", ca.key, "-out", ca.cert, "-subj", "/CN=A private authority", "-days", "2"];
  openssl("req", "-x509", ...freshKey, ...self);
  const issue = (name: string, subject: string, extensions: string): readonly [string, string] => {
    const [cert, key] = [file(`${name}.pem`), file(`${name}.key`)];
    const [signingRequest, wanted] = [file(`${name}.csr`), file(`${name}.ext`)];
    writeFileSync(wanted, extensions);
    openssl("req", "-new", ...freshKey, "-keyout", key, "-out", signingRequest, "-subj", `/CN=${subject}`);
    const signing = ["-CA", ca.cert, "-CAkey", ca.key, "-CAcreateserial", "-days", "2", "-extfile", wanted];
    openssl("x509", "-req", "-in", signingRequest, "-out", cert, ...signing);
    return [cert, key];
  };
  const [cert, key] = issue("server", host, `subjectAltName=DNS:${host},DNS:localhost\n`);
  const [clientCert, clientKey] = issue("client", "a client", "extendedKeyUsage=clientAuth\n");
  return { ca: ca.cert, cert, key, clientCert, clientKey };
}
