import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

import type { Body } from "../evidence/exchange.ts";
import { recordBody } from "../wire/body-recorder.ts";

/** Computes the signature of a body that arrives in pieces. */
export interface Signing {
  readonly add: (piece: Uint8Array) => void;
  /** The signature in lower-case hexadecimal. Must be called only once. */
  readonly signature: () => string;
}

/** HMAC-SHA256 of a body's raw bytes, keyed with a webhook's secret. Source: Delivery security and policy 1. */
export function startSigning(secret: string): Signing {
  const hmac = createHmac("sha256", Buffer.from(secret, "utf8"));
  return { add: (piece) => void hmac.update(piece), signature: () => hmac.digest("hex") };
}

/** The body of a request. */
export interface ReceivedBody {
  readonly body: Body;
  /** HMAC of the raw bytes. `null` without a secret, or if the body was too long. */
  readonly signature: string | null;
  /** Whether the body was read to its end. `false` if it was too long. */
  readonly isWhole: boolean;
}

/** Maximum body size to read. */
export const maxBodyBytes = 2 * 1024 * 1024;

/** Reads the body of a request. `null` if the connection ended before the body did. */
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
