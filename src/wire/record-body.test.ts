import { createHash } from "node:crypto";

import { describe, expect, it } from "vitest";

import { recordBody, recordWholeBody } from "./record-body.ts";

const kibibyte = 1024;

function kept(bytes: Buffer, pieceBytes: number) {
  const keeper = recordBody();
  for (let at = 0; at < bytes.length; at += pieceBytes) keeper.add(bytes.subarray(at, at + pieceBytes));
  return keeper.body();
}

const pattern = (bytes: number): Buffer => Buffer.from(Array.from({ length: bytes }, (_, at) => 97 + (at % 23)));

describe("a recorded body", () => {
  it("is `none` if empty", () => {
    expect(recordBody().body()).toEqual({ kind: "none" });
  });

  it.each([1, 3, 1000])("is text if it is UTF-8, in pieces of %i bytes", (pieceBytes) => {
    const text = "ÄÖ – 世界 🦜 \ufeff end";
    expect(kept(Buffer.from(text), pieceBytes)).toEqual({ kind: "text", text, bytes: Buffer.byteLength(text) });
  });

  it("is base64 if it is not UTF-8", () => {
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    expect(recordWholeBody(bytes)).toEqual({ kind: "base64", base64: bytes.toString("base64"), bytes: 4 });
  });

  it("is whole up to 256 KiB", () => {
    expect(kept(pattern(256 * kibibyte), 10_000)).toMatchObject({ kind: "text", bytes: 256 * kibibyte });
  });

  it.each([1000, 65_536, 3_000_000])(
    "beyond that is head, tail, length and hash, in pieces of %i bytes",
    (pieceBytes) => {
      const bytes = pattern(1_000_003);
      expect(kept(bytes, pieceBytes)).toEqual({
        kind: "cut",
        head: bytes.subarray(0, 16 * kibibyte).toString(),
        tail: bytes.subarray(-16 * kibibyte).toString(),
        bytes: bytes.length,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      });
    },
  );

  it("can be read before it is complete", () => {
    const keeper = recordBody();
    keeper.add(pattern(300 * kibibyte));
    const before = keeper.body();
    keeper.add(pattern(10));
    expect(keeper.bytes()).toBe(300 * kibibyte + 10);
    expect(keeper.body()).not.toEqual(before);
  });
});
