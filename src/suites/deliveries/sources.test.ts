import { describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import type { DeliverySources } from "../../target/target.ts";
import { delivery } from "../testing/evidence.ts";
import { sourceChecks } from "./event-content.ts";
import type { AllDeliveries } from "./events.ts";

const [isPublished, seen] = sourceChecks;

const from = (peer: string, headers: Delivery["request"]["headers"] = []): Delivery => ({
  ...delivery({ headers }),
  peer,
});

const forwarded = (value: string): Delivery => from("127.0.0.1", [["x-forwarded-for", value]]);

function evidence(deliveries: readonly Delivery[], sources?: Partial<DeliverySources>, hasPublicUrl = false): never {
  const listed = { sources: { addresses: ["198.51.100.0/30", "2001:4860::7"], header: null, ...sources } };
  const all: AllDeliveries = {
    deliveries,
    untilMs: 9000,
    clockMs: 0,
    canMove: false,
    unkept: {},
    hasPublicUrl,
    ...(sources !== undefined && listed),
  };
  return { all } as never;
}

const header = "X-Forwarded-For";
const loopback = { addresses: ["127.0.0.1"] };
const published = { addresses: ["8.8.8.0/24"] };

describe("the source address of a delivery", () => {
  it.each<[string, never, string]>([
    ["is in a listed range", evidence([from("198.51.100.2")], {}), "holds"],
    ["is a listed address of IPv6", evidence([from("2001:4860:0::7")], {}), "holds"],
    ["is outside the range", evidence([from("198.51.100.9")], {}), "breach"],
    ["is another once", evidence([from("198.51.100.2"), from("198.51.100.9")], {}), "breach"],
    ["is another address of loopback", evidence([from("127.0.0.2")], loopback), "breach"],
    [
      "is another behind a tunnel that shows one",
      evidence([from("8.8.8.8"), from("8.8.4.4")], published, true),
      "breach",
    ],
    ["is in the tunnel's header", evidence([forwarded("203.0.113.1, 8.8.8.8")], { ...published, header }), "holds"],
    ["is in the header with a port", evidence([forwarded("8.8.8.8:4711")], { ...published, header }), "holds"],
    ["is in the header in brackets", evidence([forwarded("[2001:4860::7]:443")], { header }), "holds"],
    ["is only claimed by the sender", evidence([forwarded("8.8.8.8, 8.8.4.4")], { ...published, header }), "breach"],
    ["is not in the header", evidence([forwarded("unknown")], { ...published, header }), "unproven"],
    ["may be the tunnel's", evidence([from("8.8.4.4")], published, true), "unproven"],
    ["may be that of a NAT", evidence([from("172.17.0.1")], published), "unproven"],
    ["was never seen", evidence([], {}), "unproven"],
    ["is not listed anywhere", evidence([from("8.8.8.8")]), "inapplicable"],
  ])("%s", (_, all, kind) => {
    expect(isPublished?.judge(all)).toMatchObject({ kind });
  });

  it("leaves the verdict alone if the target file lists none", () => {
    expect(isPublished?.judge(evidence([from("8.8.8.8")]))).toMatchObject({ exempt: true });
  });

  it.each([
    ["counted", evidence([from("8.8.8.8"), from("8.8.4.4"), from("8.8.8.8")]), "8.8.8.8 (2), 8.8.4.4 (1)"],
    ["named as a tunnel's", evidence([from("127.0.0.1")], undefined, true), "127.0.0.1 (1), which may be a tunnel's"],
    [
      "read from the header",
      evidence([forwarded("8.8.8.8"), forwarded("?")], { header }),
      "8.8.8.8 (1), no address (1)",
    ],
  ])("is %s", (_, all, text) => {
    expect(seen?.judge(all)).toEqual({ kind: "observed", text: `deliveries by address: ${text}` });
  });
});
