import { once } from "node:events";
import { type AddressInfo, BlockList, isIP, type Server } from "node:net";

/**
 * Settings for outgoing connections: proxies, trusted authorities and client certificate. Plain data, so that worker
 * threads can receive it.
 */
export interface Network {
  readonly proxy: ProxyChoice;
  readonly ca: string | null;
  readonly client: { readonly cert: string; readonly key: string } | null;
  /** Paths of the certificate files, for commands that the harness prints for the user. */
  readonly files: NetworkFiles;
}

interface NetworkFiles {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
}

export type ProxyChoice =
  | { readonly kind: "none" }
  | { readonly kind: "always"; readonly url: string }
  | {
      readonly kind: "by address";
      readonly http: string | null;
      readonly https: string | null;
      /** Exceptions as in `NO_PROXY`: hosts, domains, `host:port`, IP addresses and ranges, or `*`. */
      readonly except: readonly string[];
    };

export const plainNetwork: Network = {
  proxy: { kind: "none" },
  ca: null,
  client: null,
  files: { ca: null, cert: null, key: null },
};

export const isLoopback = (url: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);

/** Makes a server listen on a free port of 127.0.0.1. Returns the port. */
export async function listenOnLoopback(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

/** Returns the URL of the proxy for `url`, including credentials; `null` if `url` needs no proxy. */
export function proxyFor({ proxy }: Network, url: string): string | null {
  switch (proxy.kind) {
    case "none":
      return null;
    case "always":
      return proxy.url;
    case "by address": {
      const found = url.startsWith("https:") ? proxy.https : proxy.http;
      return found === null || isLoopback(url) || proxy.except.some((entry) => isExcepted(entry, new URL(url)))
        ? null
        : found;
    }
  }
}

export const proxyOrigin = (proxy: string): string => new URL(proxy).origin;

/** Whether an entry of `NO_PROXY` covers a URL. As in curl and Go, a domain includes its subdomains. */
function isExcepted(entry: string, { protocol, hostname, port }: URL): boolean {
  if (entry === "*") return true;
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const [, name = entry, wantedPort] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== (port === "" ? standardPort(protocol) : port)) return false;
  const wanted = name.replace(/^\[|\]$/g, "").toLowerCase();
  if (isIP(host) !== 0) return wanted === host || isInRange(host, wanted);
  const domain = wanted.replace(/^\*?\./, "");
  return host === domain || host.endsWith(`.${domain}`);
}

const standardPort = (protocol: string): string => (protocol === "https:" ? "443" : "80");

function isInRange(address: string, range: string): boolean {
  const [, base = "", bits] = /^(.+)\/(\d+)$/.exec(range) ?? [];
  const family = isIP(base);
  if (family === 0 || family !== isIP(address) || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  const type = family === 4 ? "ipv4" : "ipv6";
  list.addSubnet(base, Number(bits), type);
  return list.check(address, type);
}
