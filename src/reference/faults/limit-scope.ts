import type { ResponseEvent } from "../behaviour/limits.ts";
import type { HeadInput } from "../behaviour/transport.ts";
import { fieldsOf } from "../json-edit.ts";
import { fault, faults, type Override } from "../patch.ts";

const lateMs = 90_000;

/** Delays the release of a slot in matching cases. */
function releaseLate(matches: (event: ResponseEvent, head: HeadInput) => boolean): Override {
  return (base) => ({
    releaseDelayMs: (event, head) => (matches(event, head) ? lateMs : base.releaseDelayMs(event, head)),
  });
}

export const scopeFaults = faults("Limits / Scope of limits", {
  "invoke-not-limited": fault(["LIM-1", "LIM-3", "LIM-5", "LIM-10", "LIM-18", "LIM-19"], "Invoke is never refused.").by(
    (base) => ({ isLimited: (operation) => operation !== "invoke" && base.isLimited(operation) }),
    ["HDR-19"],
  ),
  "chunks-count": fault("LIM-11", "Each chunk of a stream counts as a request.").by(() => ({
    requestsPerChunk: () => 1,
  })),
  "streams-of-a-chunk-size-count-twice": fault(
    "LIM-11",
    "A stream that is body for with `chunk_size` counts as two requests.",
  ).by((base) => {
    let isSized = false;
    return {
      validateBody: (body, ...rest) => {
        isSized = fieldsOf(fieldsOf(body)["parameters"])["chunk_size"] !== undefined;
        return base.validateBody(body, ...rest);
      },
      requestsPerChunk: () => {
        const more = Number(isSized);
        isSized = false;
        return more;
      },
    };
  }),
  "streams-do-not-count": fault("LIM-11", "A stream does not count.").by((base) => ({
    counts: (operation) => operation !== "stream" && base.counts(operation),
  })),
  "retry-too-early": fault("LIM-13", "`retry_after` is a third of the time that is left.").by((base) => ({
    retryAfterSeconds: (refusal, nowMs) => Math.max(1, Math.floor(base.retryAfterSeconds(refusal, nowMs) / 3)),
  })),
  "slot-late-after-crash": fault("LIM-17", "The slot of a request that fails with 500 is free after 90 seconds.").by(
    releaseLate((_moment, { status }) => status >= 500),
  ),
  "slot-late-after-bad-input": fault(
    "LIM-17",
    "The slot of a request that is refused with 400 or 404 is free after 90 seconds.",
  ).by(releaseLate((_moment, { status }) => status >= 400 && status < 500)),
  "slot-late-after-streams": fault(["LIM-6", "LIM-17"], "The slot of a successful stream is free after 90 seconds.").by(
    releaseLate((event, { operation }) => operation === "stream" && event === "end"),
  ),
  "slot-back-with-the-head": fault("LIM-18", "A stream frees its slot when its head is sent.").by((base) => ({
    releasesSlot: (event, head) => (event === "head" && head.operation === "stream") || base.releasesSlot(event, head),
  })),
  "tokens-not-limited": fault("LIM-19", "The month's tokens are not limited.").by(() => ({ needsTokens: () => false })),
  "wrong-keys-charge-the-right-one": fault("LIM-23", "A wrong key uses up the allowance of the key it resembles.").by(
    () => ({
      accountChargedForInvalidKey: (credentials, ring) => {
        if (credentials.kind !== "bearer") return null;
        const { text } = credentials;
        return ring.keys.find(({ key }) => text !== key && text.startsWith(key.slice(0, -1))) ?? null;
      },
    }),
  ),
});
