import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { connect, type PeerCertificate } from "node:tls";

import { tlsOptions } from "../base/network/dispatchers.ts";
import { type Network, plainNetwork, proxyFor } from "../base/network/network.ts";

/** Facts about a TLS server's certificate, or why it could not be read. */
export type CertificateInspection =
  | {
      readonly kind: "seen";
      readonly names: readonly string[];
      /** End of the certificate's validity, such as `Mar 4 05:06:07 2026 GMT`. */
      readonly validTo: string;
      readonly authorized: boolean;
      /** Why the certificate is not trusted, as the TLS library says it; `null` for a trusted certificate. */
      readonly problem: string | null;
    }
  | { readonly kind: "unseen"; readonly reason: string };

const certificateDeadlineMs = 10_000;

/** Reads a server's certificate by a TLS handshake, through the proxy if there is one. Returns `unseen` on failure. */
export async function inspectCertificate(url: string, network: Network = plainNetwork): Promise<CertificateInspection> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const proxy = proxyFor(network, url);
  const wire = proxy === null ? null : await openTunnel(proxy, `${hostname}:${port === "" ? 443 : port}`, network);
  if (wire?.kind === "closed") return { kind: "unseen", reason: wire.reason };
  const seen = Promise.withResolvers<CertificateInspection>();
  const isName = !/^[\d.]+$|:/.test(host);
  // Accepts an untrusted certificate, because this connection only reads the certificate and sends no request.
  const socket = connect({
    host,
    port: port === "" ? 443 : Number(port),
    rejectUnauthorized: false,
    ...tlsOptions(network),
    ...(wire === null ? {} : { socket: wire.socket }),
    ...(isName ? { servername: host } : {}),
  });
  const unseen = (reason: string): void => seen.resolve({ kind: "unseen", reason });
  socket.setTimeout(certificateDeadlineMs, () => unseen(`no TLS handshake within ${certificateDeadlineMs / 1000} s`));
  socket.once("error", (error) => unseen(error.message));
  socket.once("secureConnect", () => {
    const certificate = socket.getPeerCertificate();
    seen.resolve({
      kind: "seen",
      names: namesOf(certificate),
      validTo: certificate.valid_to,
      authorized: socket.authorized,
      problem: socket.authorized ? null : describeProblem(socket.authorizationError),
    });
  });
  return seen.promise.finally(() => socket.destroy());
}

type Tunnel = { readonly kind: "open"; readonly socket: Socket } | { readonly kind: "closed"; readonly reason: string };

/** Opens a tunnel through a proxy with a CONNECT request (RFC 9110, section 9.3.6). */
function openTunnel(proxy: string, authority: string, network: Network): Promise<Tunnel> {
  const { protocol, username, password } = new URL(proxy);
  const request = (protocol === "https:" ? httpsRequest : httpRequest)(proxy, {
    method: "CONNECT",
    path: authority,
    headers: { host: authority },
    agent: false,
    timeout: certificateDeadlineMs,
    ...(username === "" ? {} : { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
    ...tlsOptions(network),
  });
  const tunnel = Promise.withResolvers<Tunnel>();
  const closed = (reason: string): void => tunnel.resolve({ kind: "closed", reason });
  request.on("connect", ({ statusCode = 0 }, socket: Socket) => {
    if (statusCode === 200) return tunnel.resolve({ kind: "open", socket });
    socket.destroy();
    closed(`the proxy answers CONNECT with ${statusCode}`);
  });
  request.on("response", ({ statusCode }) => closed(`the proxy answers CONNECT with ${statusCode}`));
  request.on("timeout", () => request.destroy(new Error(`no tunnel within ${certificateDeadlineMs / 1000} s`)));
  request.on("error", (error) => closed(error.message));
  request.end();
  return tunnel.promise;
}

function namesOf({ subject, subjectaltname = "" }: PeerCertificate): string[] {
  const common: unknown = subject?.CN;
  const alternative = subjectaltname.split(", ").filter((name) => name !== "");
  return [...(typeof common === "string" ? [common] : []), ...alternative];
}

/** Returns a TLS problem as text. Node provides the problem as a string, although Node's types declare an `Error`. */
const describeProblem = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));
