import { createHmac } from "node:crypto";
import { hourMs, minuteMs } from "../../base/duration.ts";
import { isObject, tryParseJson } from "../../base/json.ts";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";
import type { DeliveryAttemptInput, DeliveryProgress } from "../behaviour/deliveries.ts";
import { escapeNonAscii } from "../json-edit.ts";
import { always, fault, faults, overrideResult, type Override } from "../patch.ts";

type SignBytes = (bytes: Uint8Array, secret: string) => string | null;

const replaceSignature = (sign: SignBytes): Override =>
  overrideResult("deliverySignature")((signature, bytes, secret) =>
    secret === null ? signature : sign(bytes, secret),
  );

const hmac = (bytes: Uint8Array, secret: string | Uint8Array, algorithm = "sha256") =>
  createHmac(algorithm, secret).update(bytes);

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const parseBody = (bytes: Uint8Array): unknown => tryParseJson(textOf(bytes));

function dataOf(bytes: Uint8Array): unknown {
  const value = parseBody(bytes);
  return isObject(value) && "data" in value ? value["data"] : value;
}

const changeSigningSecret = (change: (secret: string) => string | Uint8Array): Override =>
  replaceSignature((bytes, secret) => hmac(bytes, change(secret)).digest("hex"));

const bytesOf = (text: string, encoding: BufferEncoding = "utf8"): Uint8Array => Buffer.from(text, encoding);

const signatureFaults = faults("Events / Delivery security and policy", {
  "signature-missing": fault("HOOK-21", "Deliveries are not signed.").by(replaceSignature(() => null)),
  "signature-upper-case": fault("HOOK-21", "The signature is in upper case.").by(
    replaceSignature((bytes, secret) => hmac(bytes, secret).digest("hex").toUpperCase()),
  ),
  "signature-with-prefix": fault("HOOK-21", "The signature begins with its algorithm, `sha256=`.").by(
    replaceSignature((bytes, secret) => `sha256=${hmac(bytes, secret).digest("hex")}`),
  ),
  "signature-base64": fault("HOOK-21", "The signature is in base64.").by(
    replaceSignature((bytes, secret) => hmac(bytes, secret).digest("base64")),
  ),
  "signature-sha1": fault("HOOK-21", "The signature is an HMAC-SHA1.").by(
    replaceSignature((bytes, secret) => hmac(bytes, secret, "sha1").digest("hex")),
  ),
  "signature-of-another-secret": fault("HOOK-21", "The signature is keyed with the secret and a line feed.").by(
    replaceSignature((bytes, secret) => hmac(bytes, `${secret}\n`).digest("hex")),
  ),
  "signature-secret-decoded": fault("HOOK-21", "The signature is keyed with the base64-decoded secret.").by(
    replaceSignature((bytes, secret) => hmac(bytes, bytesOf(secret, "base64")).digest("hex")),
  ),
  "signature-secret-decoded-from-hex": fault("HOOK-21", "A secret of hexadecimal digits is decoded.").by(
    changeSigningSecret((secret) => (/^([0-9a-f]{2}){4,}$/i.test(secret) ? bytesOf(secret, "hex") : secret)),
  ),
  "signature-secret-decoded-if-base64": fault("HOOK-21", "A secret with the form of padded base64 is decoded.").by(
    changeSigningSecret((secret) => (/^[a-z0-9+/]+={1,2}$/i.test(secret) ? bytesOf(secret, "base64") : secret)),
  ),
  "signature-secret-trimmed": fault("HOOK-21", "Blanks at the ends of a secret are dropped.").by(
    changeSigningSecret((secret) => secret.trim()),
  ),
  "signature-secret-as-number": fault("HOOK-21", "A secret of digits loses its leading zeros.").by(
    changeSigningSecret((secret) => (/^\d+$/.test(secret) ? String(Number(secret)) : secret)),
  ),
  "signature-secret-in-latin-1": fault("HOOK-21", "The secret is encoded in Latin-1.").by(
    changeSigningSecret((secret) => bytesOf(secret, "latin1")),
  ),
  "signature-secret-of-url": fault(
    "HOOK-21",
    "The secret of the first webhook with a URL signs the deliveries of all webhooks with it.",
  ).by((base) => {
    const secrets = new Map<string | null, string | null>();
    return {
      signingSecret: (to) => {
        const secret = secrets.get(to.url) ?? base.signingSecret(to);
        secrets.set(to.url, secret);
        return secret;
      },
    };
  }),
  "signature-secret-cut": fault("HOOK-21", "Only the first 72 characters of a secret are used.").by(
    changeSigningSecret((secret) => secret.slice(0, 72)),
  ),
  "signature-of-reprinted-body": fault("HOOK-21", "The signature is that of the body reformatted with blanks.").by(
    replaceSignature((bytes, secret) => hmac(bytesOf(JSON.stringify(parseBody(bytes), null, 1)), secret).digest("hex")),
  ),
  "signature-of-latin-1": fault("HOOK-21", "The signature is that of the body in Latin-1.").by(
    replaceSignature((bytes, secret) => hmac(bytesOf(textOf(bytes), "latin1"), secret).digest("hex")),
  ),
  "signature-of-escaped-body": fault("HOOK-21", "The signature is that of the body with all but ASCII escaped.").by(
    replaceSignature((bytes, secret) => hmac(bytesOf(escapeNonAscii(textOf(bytes))), secret).digest("hex")),
  ),
  "signature-of-data": fault("HOOK-21", "The signature is that of `data` alone.").by(
    replaceSignature((bytes, secret) => hmac(bytesOf(JSON.stringify(dataOf(bytes))), secret).digest("hex")),
  ),
  "signature-of-the-beginning": fault("HOOK-21", "The signature is that of the first 16 KiB of the body.").by(
    replaceSignature((bytes, secret) => hmac(bytes.subarray(0, 16 * 1024), secret).digest("hex")),
  ),
});

export const stopRetriesAfter = (isFinal: (status: number | null) => boolean): Override =>
  overrideResult("nextAttemptMs")((nextMs, { status }) => (isFinal(status) ? null : nextMs));

const replaceRetryDelays =
  (delayMsAfter: (attempts: number) => number | null): Override =>
  () => ({
    nextAttemptMs: ({ delivered, attemptCount, lastMs }: DeliveryProgress) => {
      const delayMs = delivered ? null : delayMsAfter(attemptCount);
      return delayMs === null ? null : lastMs + delayMs;
    },
  });

const { maxAttempts, retryDelaysMs } = deliveryPolicy;
const publishedDelayMs = (attempts: number): number | null =>
  attempts < maxAttempts ? (retryDelaysMs[attempts] ?? null) : null;
const scaledDelayMs = (factor: number) => (attempts: number) => {
  const delayMs = publishedDelayMs(attempts);
  return delayMs === null ? null : delayMs * factor;
};

const attemptFaults = faults("States and transitions / Webhook delivery", {
  "unauthorized-is-final": fault("HOOK-22", "A delivery with the response 401 is not retried.").by(
    stopRetriesAfter((status) => status === 401),
  ),
  "unauthorized-is-success": fault("HOOK-22", "A response of 401 counts as success.").by(
    overrideResult("isDelivered")((is, status) => is || status === 401),
  ),
  "receiver-has-one-second": fault("HOOK-38", "A receiver has one second.").by(always("responseTimeoutMs", 1000)),
  "silence-is-final": fault("HOOK-26", "A delivery without a response is not retried.").by(
    stopRetriesAfter((status) => status === null),
  ),
  "only-200-is-success": fault("HOOK-25", "Only 200 counts as success.").by(() => ({
    isDelivered: (status) => status === 200,
  })),
  "only-200-and-201-are-success": fault("HOOK-25", "Responses of 202 and 204 count as failures.").by(() => ({
    isDelivered: (status) => status === 200 || status === 201,
  })),
  "goes-on-after-a-late-success": fault("HOOK-25", "A delivery that succeeds at a retry is retried again.").by(
    (base) => ({
      nextAttemptMs: (progress) =>
        base.nextAttemptMs({ ...progress, delivered: progress.delivered && progress.attemptCount === 1 }),
    }),
  ),
  "never-tried-again": fault(["HOOK-22", "HOOK-26"], "A failed delivery is not retried.").by(
    always("nextAttemptMs", null),
  ),
  "server-errors-are-final": fault("HOOK-26", "A delivery with a response of 5xx is not retried.").by(
    stopRetriesAfter((status) => status !== null && status >= 500),
  ),
  "one-retry-for-each-webhook": fault(
    "HOOK-26",
    "A delivery that fails while one of another type awaits its retry, for the same webhook, is not retried.",
  ).by((base) => {
    const awaited = new Map<string | null, string | null>();
    return {
      nextAttemptMs: (progress) => {
        const { webhookId, type } = progress;
        const nextMs = base.nextAttemptMs(progress);
        if ((awaited.get(webhookId) ?? type) !== type) return null;
        if (nextMs === null) awaited.delete(webhookId);
        else awaited.set(webhookId, type);
        return nextMs;
      },
    };
  }),
  "not-found-is-final": fault("HOOK-26", "A delivery with the response 404 is not retried.").by(
    stopRetriesAfter((status) => status === 404),
  ),
  "redirects-are-success": fault("HOOK-26", "A response of 3xx counts as success.").by(
    overrideResult("isDelivered")((is, status) => is || (status >= 300 && status < 400)),
  ),
});

/**
 * A loopback address that the server does not publish. On Linux, a process can send from every address in 127.0.0.0/8.
 */
const unpublishedSource = "127.0.0.9";

const sentFromElsewhere = (matches: (attempt: DeliveryAttemptInput) => boolean): Override =>
  overrideResult("deliverySource")((source, attempt) => (matches(attempt) ? unpublishedSource : source));

const sourceFaults = faults("Events / Delivery security and policy 2", {
  "deliveries-from-another-address": fault("HOOK-44", "Deliveries come from an address that is not published.").by(
    sentFromElsewhere(() => true),
  ),
  "retries-from-another-address": fault("HOOK-44", "Retries come from an address that is not published.").by(
    sentFromElsewhere(({ attempt }) => attempt > 1),
  ),
  "deployments-told-from-another-address": fault(
    "HOOK-44",
    "Deployment events come from an address that is not published.",
  ).by(sentFromElsewhere(({ type }) => type?.startsWith("deployment.") === true)),
});

const scheduleFaults = faults("Events / Delivery security and policy 4", {
  "retries-too-early": fault("HOOK-27", "Retries come in half the time.").by(replaceRetryDelays(scaledDelayMs(0.5))),
  "retries-too-late": fault("HOOK-27", "Retries come in one and a half times the time.").by(
    replaceRetryDelays(scaledDelayMs(1.5)),
  ),
  "retries-each-minute": fault("HOOK-27", "A retry comes each minute, four times.").by(
    replaceRetryDelays((attempts) => (attempts < maxAttempts ? minuteMs : null)),
  ),
  "retries-doubling": fault("HOOK-27", "Retries come after 1, 2, 4 and 8 minutes.").by(
    replaceRetryDelays((attempts) => (attempts < maxAttempts ? minuteMs * 2 ** (attempts - 1) : null)),
  ),
  "retries-out-of-order": fault("HOOK-27", "The retry after 5 minutes comes before the one after 1 minute.").by(
    replaceRetryDelays((attempts) => publishedDelayMs(attempts === 1 ? 2 : attempts === 2 ? 1 : attempts)),
  ),
  "three-attempts": fault("HOOK-27", "The third attempt is the last.").by(
    replaceRetryDelays((attempts) => (attempts < 3 ? publishedDelayMs(attempts) : null)),
  ),
  "seven-attempts": fault("HOOK-28", "Two more attempts follow, ten minutes apart.").by(
    replaceRetryDelays((attempts) => publishedDelayMs(attempts) ?? (attempts < maxAttempts + 2 ? 10 * minuteMs : null)),
  ),
  "one-attempt-more": fault("HOOK-28", "One more attempt follows an hour after the last.").by(
    replaceRetryDelays((attempts) => publishedDelayMs(attempts) ?? (attempts === maxAttempts ? hourMs : null)),
  ),
  "retries-without-end": fault(["HOOK-28", "HOOK-29"], "Retries go on, an hour apart.").by(
    replaceRetryDelays((attempts) => publishedDelayMs(attempts) ?? hourMs),
  ),
  "never-marked-failed": fault("HOOK-29", "A delivery stays pending after its last attempt.").by(
    overrideResult("stateAfter")((state, { delivered }) => (delivered ? state : "pending")),
  ),
  "marked-delivered": fault(
    "HOOK-29",
    "A delivery is marked delivered after its last attempt, even if that failed.",
  ).by(overrideResult("stateAfter")((state, _progress, nextMs) => (nextMs === null ? "delivered" : state))),
});

export const deliveryPolicyFaults = [...signatureFaults, ...attemptFaults, ...sourceFaults, ...scheduleFaults];
