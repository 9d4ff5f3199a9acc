import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

import type { Body } from "../evidence/exchange.ts";
import { recordBody } from "../wire/body-recorder.ts";

/** The signature of a body that comes in pieces. */
export interface Signing {
  readonly add: (piece: Uint8Array) => void;
  /** Lower-case hexadecimal. To be asked once. */
  readonly signature: () => string;
}

/** HMAC-SHA256 of a body's raw bytes, keyed with a webhook's secret. Source: Delivery security and policy 1. */
export function startSigning(secret: string): Signing {
  const hmac = createHmac("sha256", Buffer.from(secret, "utf8"));
  return { add: (piece) => void hmac.update(piece), signature: () => hmac.digest("hex") };
}

/** A request's body as it arrived. */
export interface ReceivedBody {
  readonly body: Body;
  /** HMAC of its raw bytes; `null` without a secret, or where the body was too long to be read to its end. */
  readonly signature: string | null;
  /** `false` where it was too long to be read to its end. */
  readonly isWhole: boolean;
}

/** A body is read no further than this, even when the sender goes on. */
export const maxBodyBytes = 2 * 1024 * 1024;

/** Reads a request's body. `null` where the sender left, or was cut off, before the end of it. */
export function readBody(incoming: IncomingMessage, secret: string | null): Promise<ReceivedBody | null> {
  const kept = recordBody();
  const signing = secret === null ? null : startSigning(secret);
  return new Promise((resolve) => {
    incoming.on("data", (piece: Buffer) => {
      kept.add(piece);
      signing?.add(piece);
      if (kept.bytes() <= maxBodyBytes) return;
      incoming.removeAllListeners("data").pause();
      resolve({ body: kept.body(), signature: null, isWhole: false });
    });
    incoming.on("end", () => resolve({ body: kept.body(), signature: signing?.signature() ?? null, isWhole: true }));
    incoming.on("error", () => resolve(null));
    incoming.on("close", () => resolve(null));
  });
}
