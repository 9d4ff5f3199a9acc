import { describe, expect, it } from "vitest";

import { rejectedReceiverAddress } from "./acceptance.ts";
import { exchange } from "../testing/evidence.ts";

const refused = (status: number, message: string) =>
  exchange({ path: "/webhooks", status, json: { error: { code: "INVALID_INPUT", message, status } } });

describe("a refusal of the receiver's address", () => {
  it.each([
    [400, "url must be https", true],
    [422, "loopback is not allowed", true],
    [403, "private networks cannot be called", true],
    [400, 'Field "secret": is not supported.', false],
    [400, "type is not right", false],
    [404, "url not found", false],
    [500, "url broke", false],
  ])("%d %s, where the receiver is promised to be reached", (status, message, isExcused) => {
    expect(rejectedReceiverAddress(refused(status, message), true) !== null).toBe(isExcused);
  });

  it.each([
    [400, true],
    [422, true],
    [403, true],
    [404, false],
    [429, false],
    [500, false],
    [202, false],
  ])("%d without a word of why, where nobody promised", (status, isExcused) => {
    expect(rejectedReceiverAddress(refused(status, "no"), false) !== null).toBe(isExcused);
  });
});
