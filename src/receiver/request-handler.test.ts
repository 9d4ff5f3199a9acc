import { describe, expect, it } from "vitest";

import { startSigning } from "./request-handler.ts";

const secret = "whsec_7Fq2";

/** Bodies and secrets with their signatures, which `openssl dgst -sha256 -hmac SECRET` computed. */
const vectors = [
  {
    of: "ASCII",
    secret,
    bytes: Buffer.from('{"id":"evt_1","type":"agent.completed"}'),
    signature: "a4105ed05b9955fedf43097605e3b8da94ead716fceaf6528a5d4e13a84a6016",
  },
  {
    of: "a body that is not ASCII",
    secret,
    bytes: Buffer.from('{"result":"Zoë – 世界 🦜"}'),
    signature: "9326b1e820a89d82e8166ec568b1b1f53f4bee987183d2aaac3b55d10443c16f",
  },
  {
    of: "an empty body",
    secret,
    bytes: Buffer.alloc(0),
    signature: "b4621c4485e7f3cbc01d2a76f2f8e1e8965f59cd21841e6a515224c9a4945ad7",
  },
  {
    of: "a mebibyte of the letter a",
    secret,
    bytes: Buffer.alloc(1024 * 1024, "a"),
    signature: "cffb57dd9638d6c872a34764980453001606586bff7983d8aaf451eed8c469ce",
  },
  {
    of: "a secret that is not ASCII",
    secret: "Geheimnis-ß-世",
    bytes: Buffer.from('{"id":"evt_1","type":"agent.completed"}'),
    signature: "d47cd5f4973f2885e8a385be30148a447040d02d84f341e855980d211aedb482",
  },
  {
    of: "bytes that are not UTF-8",
    secret,
    bytes: Buffer.from([0xff, 0x00, 0xfe]),
    signature: "fd02055d0ff7d0e338d233e8ab8d3b36f08c5f3020cb9f2fefd248b8f38f837e",
  },
] as const;

describe("the signature of a delivery", () => {
  it.each(vectors)("of $of equals that of openssl", (vector) => {
    const signing = startSigning(vector.secret);
    signing.add(vector.bytes);
    expect(signing.signature()).toBe(vector.signature);
  });

  it.each(vectors)("of $of is the same if it arrives in pieces", (vector) => {
    const signing = startSigning(vector.secret);
    for (let at = 0; at < vector.bytes.length; at += 7919) signing.add(vector.bytes.subarray(at, at + 7919));
    expect(signing.signature()).toBe(vector.signature);
  });
});
