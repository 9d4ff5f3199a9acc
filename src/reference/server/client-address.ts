import { isIP } from "node:net";
import { normalizeAddress, type AddressSet } from "../addresses.ts";

/** Where a request says that it comes from; header values are empty where they are absent. */
export interface Hops {
  /** The address at the other end of the socket. */
  readonly peer: string;
  readonly forwarded: string;
  readonly forwardedFor: string;
}

/**
 * The address that a request comes from. Proxies append the address that they saw, so the list is read from its end, and
 * only as far as the hops before it are trusted: what a client wrote itself is never believed.
 * Source: RFC 7239, 4 and 5.2, and the older `X-Forwarded-For`.
 */
export function clientAddress({ peer, forwarded, forwardedFor }: Hops, trusted: AddressSet): string {
  let address = normalizeAddress(peer);
  if (forwarded === "" && forwardedFor === "") return address;
  const hops = forwarded === "" ? forwardedFor.split(",").map(addressOf) : forwardedHops(forwarded);
  for (const hop of hops.toReversed()) {
    // A hop that hides or garbles its client leaves the nearest address that is known.
    if (!trusted.has(address) || hop === null) return address;
    address = hop;
  }
  return address;
}

/** One value of `for` a hop; `null` where it names no address (`unknown`, `_hidden`, or nothing). */
function forwardedHops(forwarded: string): readonly (string | null)[] {
  return splitOutsideQuotes(forwarded, ",").map((element) => {
    const pair = splitOutsideQuotes(element, ";").find((part) => /^\s*for\s*=/i.test(part));
    return pair === undefined ? null : addressOf(pair.replace(/^[^=]*=/, ""));
  });
}

function splitOutsideQuotes(text: string, separator: "," | ";"): readonly string[] {
  const pattern = separator === "," ? /(?:"(?:[^"\\]|\\.)*"|[^,"])+/g : /(?:"(?:[^"\\]|\\.)*"|[^;"])+/g;
  return text.match(pattern) ?? [];
}

/** `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]:4711`, `2001:db8::1`, each with quotes or without. */
function addressOf(text: string): string | null {
  const bare = text.trim().replace(/^"(.*)"$/, "$1");
  const address = /^\[([^\]]+)\](?::\w+)?$/.exec(bare)?.[1] ?? /^([\d.]+):\w+$/.exec(bare)?.[1] ?? bare;
  return isIP(address) === 0 ? null : normalizeAddress(address);
}
