import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { addressSet, normalizeAddress } from "../addresses.ts";
import { privateNetworks, loopbackNetworks, equivalentAddresses } from "./private-networks.ts";

/** Keeps a server that delivers to addresses which users name from being turned against its own network. */
export interface AddressGuard {
  /** Why nothing is sent to a URL, or `null`. What a name leads to is seen only when it is connected to. */
  addressRefusal(url: string): string | null;
  /** Resolves a name for a connection; fails where an address behind it is refused. */
  readonly lookup: LookupFunction;
}

/** All addresses of a name. */
export type Resolver = (name: string, done: (error: Error | null, addresses: readonly LookupAddress[]) => void) => void;

export interface GuardOptions {
  /** Whether the server's own machine may be delivered to. */
  readonly allowsLoopback: boolean;
  /** Addresses and CIDRs that are allowed besides. */
  readonly allowed: readonly string[];
  /** The machine's own addresses: whatever network they are in, what listens there was not put there for strangers. Default: all. */
  readonly machineAddresses?: readonly string[];
  /** Default: the system's. */
  readonly resolve?: Resolver;
}

/** A refusal on the way to a connection. */
export class RefusedAddressError extends Error {
  override readonly name = "RefusedAddress";
}

const systemResolver: Resolver = (name, done) =>
  systemLookup(name, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []));

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));

/** @throws {Error} where an allowed network cannot be read. */
export function addressGuard(options: GuardOptions): AddressGuard {
  const { allowsLoopback, resolve = systemResolver } = options;
  const allowed = addressSet(options.allowed);
  const own = addressSet((options.machineAddresses ?? ownAddresses()).map(normalizeAddress));
  const isAllowed = (address: string) => allowed.has(address) || (allowsLoopback && loopbackNetworks.has(address));
  const isRefused = (address: string) => {
    const all = equivalentAddresses(address);
    return all.some((meaning) => privateNetworks.has(meaning) || own.has(meaning)) && !all.some(isAllowed);
  };
  return {
    addressRefusal: (text) => {
      const url = URL.parse(text);
      if (url === null) return "it is no URL";
      if (url.protocol !== "http:" && url.protocol !== "https:") return "only http and https are delivered to";
      const host = url.hostname.replace(/^\[|\]$/g, "");
      const refused = isIP(host) === 0 ? isLocalName(host) && isRefused("127.0.0.1") : isRefused(host);
      return refused ? `${host} is an address that this server does not deliver to` : null;
    },
    lookup: (name, { all }, done) => {
      resolve(name, (error, addresses) => {
        if (error !== null) return done(error, "");
        // One refused address is enough: the connection may try them all.
        const bad = addresses.find(({ address }) => isRefused(address));
        const [first] = addresses;
        if (bad !== undefined)
          return done(new RefusedAddressError(`${name} leads to an address that this server does not deliver to`), "");
        if (first === undefined) return done(new RefusedAddressError(`${name} has no address`), "");
        if (all === true) return done(null, [...addresses]);
        return done(null, first.address, first.family);
      });
    },
  };
}

/** RFC 6761, 6.3. */
function isLocalName(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host);
}

/** Whether a server that listens on `host` can be reached from its own machine only. */
export function listensOnLoopback(host: string): boolean {
  return isLocalName(host) || equivalentAddresses(host).some((address) => loopbackNetworks.has(address));
}
