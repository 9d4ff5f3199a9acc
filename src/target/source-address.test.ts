import { describe, expect, it } from "vitest";

import { inclusionOfAny, type Inclusion } from "./source-address.ts";

const behindTranslation = ["127.0.0.1", "::1", "192.168.1.7"] as const;
const withPublicAddress = ["127.0.0.1", "8.8.4.4", "fe80::1%eth0"] as const;

describe("a list of allowed addresses", () => {
  it.each<[string, readonly string[], readonly string[], Inclusion]>([
    ["names the address", ["192.168.1.7"], behindTranslation, "included"],
    ["names a range around the address", ["203.0.113.9", "192.168.0.0/16"], behindTranslation, "included"],
    ["names the loopback address of IPv6", ["::1/128"], behindTranslation, "included"],
    ["names everything", ["0.0.0.0/0"], behindTranslation, "included"],
    ["names another loopback address", ["127.0.0.2/32"], behindTranslation, "not included"],
    ["names an address for examples", ["203.0.113.9"], behindTranslation, "not included"],
    ["names a public address, which may be that of a router", ["8.8.8.8"], behindTranslation, "unknown"],
    ["names another public address", ["8.8.8.8"], withPublicAddress, "not included"],
    ["names no address", ["office.example", "10.0.0.0/99"], withPublicAddress, "not included"],
  ])("%s", (_, allowed, own, expected) => {
    expect(inclusionOfAny(own, allowed)).toBe(expected);
  });
});
