import { isIPv6 } from "node:net";

import { ReceiverProblem } from "./problem.ts";

/** Where a receiver listens. Port 0 takes a free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Reads `host:port`; an IPv6 address stands in brackets.
 *
 * @throws {ReceiverProblem}
 */
export function readListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535 || (bracketed !== undefined && !isIPv6(bracketed)))
    throw new ReceiverProblem(
      `\`webhooks.listen\` is ${JSON.stringify(text)}; give a host and a port, such as "127.0.0.1:0" (0 takes a free port).`,
    );
  return { host, port: Number(port) };
}

/** `host:port`, as it stands in a URL. */
export const addressText = ({ host, port }: ListenAddress): string => `${isIPv6(host) ? `[${host}]` : host}:${port}`;

const isWildcard = (host: string): boolean => host === "0.0.0.0" || /^[0:]+$/.test(host);

/**
 * The address that webhooks are created with, without a trailing slash.
 *
 * @throws {ReceiverProblem}
 */
export function baseUrlFor(listening: ListenAddress, publicUrl: string | null): string {
  if (publicUrl !== null) return readPublicUrl(publicUrl);
  if (isWildcard(listening.host))
    throw new ReceiverProblem(
      `\`webhooks.listen\` is ${addressText(listening)}, which no target can call. Give the address that it can call under \`webhooks.publicUrl\`.`,
    );
  return `http://${addressText(listening)}`;
}

function readPublicUrl(text: string): string {
  const url = URL.parse(text);
  const wrong = (what: string): ReceiverProblem =>
    new ReceiverProblem(
      `\`webhooks.publicUrl\` is ${JSON.stringify(text)}: ${what}. Give one like "https://tunnel.example/hook".`,
    );
  if (url === null) throw wrong("it is no URL");
  if (url.username !== "" || url.password !== "")
    throw new ReceiverProblem(
      "`webhooks.publicUrl` has a user name or a password, which would be written into the evidence. Take it out.",
    );
  if (url.protocol !== "http:" && url.protocol !== "https:") throw wrong("it is neither http nor https");
  if (url.search !== "" || url.hash !== "") throw wrong("it has a query string or a fragment");
  return text.replace(/[?#]*$/, "").replace(/\/+$/, "");
}
