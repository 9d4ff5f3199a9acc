import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { connect, type PeerCertificate } from "node:tls";

import { type Network, plainNetwork, proxyFor } from "../base/network/network.ts";
import { secureOptions } from "../base/network/secure.ts";

/** What a TLS server shows of itself. Plain JSON. */
export type CertificateInspection =
  | {
      readonly kind: "seen";
      /** Names that it is issued for: its subject's, and the alternative ones. */
      readonly names: readonly string[];
      /** As the certificate has it: `Mar  4 05:06:07 2026 GMT`. */
      readonly validTo: string;
      /** Whether this machine trusts it for this host and now. */
      readonly authorized: boolean;
      /** Why not, in the words of the TLS library; `null` where it does. */
      readonly problem: string | null;
    }
  | { readonly kind: "unseen"; readonly reason: string };

const deadlineMs = 10_000;

/** Connects once, through a proxy where one stands before it, asks for nothing, and looks at the certificate. Never rejects. */
export async function inspectCertificate(url: string, network: Network = plainNetwork): Promise<CertificateInspection> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const proxy = proxyFor(network, url);
  const wire = proxy === null ? null : await openTunnel(proxy, `${hostname}:${port === "" ? 443 : port}`, network);
  if (wire?.kind === "closed") return { kind: "unseen", reason: wire.reason };
  const seen = Promise.withResolvers<CertificateInspection>();
  const isName = !/^[\d.]+$|:/.test(host);
  // It is looked at, not relied on: nothing is sent on this connection.
  const socket = connect({
    host,
    port: port === "" ? 443 : Number(port),
    rejectUnauthorized: false,
    ...secureOptions(network),
    ...(wire === null ? {} : { socket: wire.socket }),
    ...(isName ? { servername: host } : {}),
  });
  const unseen = (reason: string): void => seen.resolve({ kind: "unseen", reason });
  socket.setTimeout(deadlineMs, () => unseen(`no TLS handshake within ${deadlineMs / 1000} s`));
  socket.once("error", (error) => unseen(error.message));
  socket.once("secureConnect", () => {
    const certificate = socket.getPeerCertificate();
    seen.resolve({
      kind: "seen",
      names: namesOf(certificate),
      validTo: certificate.valid_to,
      authorized: socket.authorized,
      problem: socket.authorized ? null : problemOf(socket.authorizationError),
    });
  });
  return seen.promise.finally(() => socket.destroy());
}

type Tunnel = { readonly kind: "open"; readonly socket: Socket } | { readonly kind: "closed"; readonly reason: string };

/** Source: RFC 9110, 9.3.6. */
function openTunnel(proxy: string, authority: string, network: Network): Promise<Tunnel> {
  const { protocol, username, password } = new URL(proxy);
  const asking = (protocol === "https:" ? httpsRequest : httpRequest)(proxy, {
    method: "CONNECT",
    path: authority,
    headers: { host: authority },
    agent: false,
    timeout: deadlineMs,
    ...(username === "" ? {} : { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
    ...secureOptions(network),
  });
  const tunnel = Promise.withResolvers<Tunnel>();
  const closed = (reason: string): void => tunnel.resolve({ kind: "closed", reason });
  asking.on("connect", ({ statusCode = 0 }, socket: Socket) => {
    if (statusCode === 200) return tunnel.resolve({ kind: "open", socket });
    socket.destroy();
    closed(`the proxy answers CONNECT with ${statusCode}`);
  });
  asking.on("response", ({ statusCode }) => closed(`the proxy answers CONNECT with ${statusCode}`));
  asking.on("timeout", () => asking.destroy(new Error(`no tunnel within ${deadlineMs / 1000} s`)));
  asking.on("error", (error) => closed(error.message));
  asking.end();
  return tunnel.promise;
}

function namesOf({ subject, subjectaltname = "" }: PeerCertificate): string[] {
  const common: unknown = subject?.CN;
  const alternative = subjectaltname.split(", ").filter((name) => name !== "");
  return [...(typeof common === "string" ? [common] : []), ...alternative];
}

/** Declared as an error, and given as its code. */
const problemOf = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));
