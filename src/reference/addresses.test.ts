import { describe, expect, it } from "vitest";
import { addressSet, isAddressRange, normalizeAddress, clientAddress } from "./addresses.ts";

const proxies = addressSet(["10.0.0.0/8", "2001:db8:1::/48", "127.0.0.1"]);

describe("the address of a client", () => {
  it.each<[string, string, { forwardedFor?: string; forwarded?: string }, string]>([
    ["the peer's, where there is no proxy", "192.0.2.7", {}, "192.0.2.7"],
    ["the peer's, whatever a stranger writes", "192.0.2.7", { forwardedFor: "203.0.113.9" }, "192.0.2.7"],
    ["what a trusted proxy saw", "10.1.2.3", { forwardedFor: "203.0.113.9" }, "203.0.113.9"],
    ["the last that is no proxy", "10.1.2.3", { forwardedFor: "198.51.100.1, 203.0.113.9, 10.9.9.9" }, "203.0.113.9"],
    ["the first, where all are proxies", "10.1.2.3", { forwardedFor: "10.0.0.1, 10.0.0.2" }, "10.0.0.1"],
    ["the proxy's, where it saw nothing that is an address", "10.1.2.3", { forwardedFor: "unknown" }, "10.1.2.3"],
    ["the nearest known, where a hop is garbled", "10.1.2.3", { forwardedFor: "203.0.113.9, x, 10.0.0.1" }, "10.0.0.1"],
    ["an IPv4 address that came mapped", "::ffff:10.1.2.3", { forwardedFor: "::ffff:203.0.113.9" }, "203.0.113.9"],
    ["without its port", "10.1.2.3", { forwardedFor: "203.0.113.9:4711" }, "203.0.113.9"],
    ["an IPv6 address in brackets", "10.1.2.3", { forwardedFor: "[2001:db8::7]:4711" }, "2001:db8::7"],
    ["that of Forwarded", "10.1.2.3", { forwarded: "for=203.0.113.9;proto=https;by=10.0.0.1" }, "203.0.113.9"],
    ["that of Forwarded in quotes", "10.1.2.3", { forwarded: 'proto=http; For="[2001:db8::7]:4711"' }, "2001:db8::7"],
    ["the last of several Forwarded", "10.1.2.3", { forwarded: "for=198.51.100.1, for=203.0.113.9" }, "203.0.113.9"],
    ["the proxy's, where Forwarded hides it", "10.1.2.3", { forwarded: "for=_hidden" }, "10.1.2.3"],
    [
      "that of Forwarded, where both are there",
      "10.1.2.3",
      { forwarded: "for=203.0.113.9", forwardedFor: "198.51.100.1" },
      "203.0.113.9",
    ],
    ["an IPv6 proxy's word", "2001:db8:1::5", { forwardedFor: "203.0.113.9" }, "203.0.113.9"],
  ])("is %s", (_name, peer, { forwardedFor = "", forwarded = "" }, expected) => {
    expect(clientAddress({ peer, forwardedFor, forwarded }, proxies)).toBe(expected);
  });

  it("is the peer's without trusted proxies", () => {
    const hops = { peer: "127.0.0.1", forwarded: "for=203.0.113.9", forwardedFor: "203.0.113.9" };
    expect(clientAddress(hops, addressSet([]))).toBe("127.0.0.1");
  });
});

describe("a set of addresses", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9", true],
    ["203.0.113.9", "203.0.113.8", false],
    ["203.0.113.0/24", "203.0.113.200", true],
    ["203.0.113.0/24", "::ffff:203.0.113.200", true],
    ["::ffff:203.0.113.9", "203.0.113.9", true],
    ["::ffff:203.0.113.0/120", "203.0.113.200", true],
    ["fd00::/8", "fd12::1", true],
    ["FD00::1", "fd00:0::1", true],
    ["fe80::/10", "fe80::1%eth0", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["0.0.0.0/0", "", false],
    ["::/0", "::1", true],
  ])("%s has %s: %s", (range, address, expected) => {
    expect(addressSet([range]).has(address)).toBe(expected);
  });

  it.each([
    ["10.0.0.0/33", false],
    ["10.0.0.0/", false],
    ["10.0.0.0/8/8", false],
    ["fd00::/129", false],
    ["host.example", false],
    ["", false],
    ["10.0.0.0/8", true],
    ["::1", true],
  ])("%j is a range: %s", (text, expected) => {
    expect(isAddressRange(text)).toBe(expected);
  });

  it("has one form of each address", () => {
    expect(["::FFFF:192.0.2.1", "FE80::1%eth0"].map(normalizeAddress)).toEqual(["192.0.2.1", "fe80::1"]);
  });
});
