import { z } from "zod";

import type { SigningKey } from "./signing-key.ts";

/** The payload type in the DSSE envelope, which says that the payload is an in-toto Statement. */
const payloadType = "application/vnd.in-toto+json";

/** Whether a text is base64Schema, in the standard or the URL-safe alphabet. DSSE allows both. */
const isBase64 = (text: string): boolean => {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  return standard !== "" && Buffer.from(text, "base64").toString("base64").replace(/=+$/, "") === standard;
};

const base64Schema = z.string().refine(isBase64, "must be base64");

/** Schema of a signed statement: a DSSE envelope around an in-toto Statement. */
export const envelopeSchema = z
  .strictObject({
    payloadType: z.literal(payloadType),
    payload: base64Schema.describe("The statement, in base64."),
    signatures: z
      .array(
        z.strictObject({
          keyid: z.string().describe("SHA-256 of the public key (SubjectPublicKeyInfo in DER)."),
          sig: base64Schema.describe("Signature over the pre-authentication encoding, in base64; ECDSA in DER."),
        }),
      )
      .min(1)
      .max(10),
  })
  .describe("A signed conformance statement, in a DSSE envelope. `conformance verify` checks it.");

export type Envelope = z.infer<typeof envelopeSchema>;

/** Signs the text of an in-toto Statement, and puts it into an envelope with the signature. */
export function sealEnvelope(payload: string, { keyId, sign }: SigningKey): Envelope {
  const bytes = Buffer.from(payload);
  return {
    payloadType,
    payload: bytes.toString("base64"),
    signatures: [{ keyid: keyId, sig: sign(signedBytes(bytes)).toString("base64") }],
  };
}

/** Returns the signed text of an envelope, as UTF-8 bytes. */
export const payloadOf = ({ payload }: Envelope): Buffer => Buffer.from(payload, "base64");

/** Returns the bytes over which a signature is computed: the pre-authentication encoding (PAE) of DSSE 1.0.2, "Signature Definition". */
export const signedBytes = (payload: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]);
