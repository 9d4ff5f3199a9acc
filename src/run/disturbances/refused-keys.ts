import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";
import type { Target } from "../../target/target.ts";
import type { Client } from "../send/client.ts";
import type { Recorder } from "../send/recorder.ts";
import type { Disturbance } from "./disturbance.ts";

const isRefusal = (status: number | null): boolean => status === 401 || status === 403;

/**
 * Finds keys that the target accepted before and now always refuses, for example because they were revoked. To be sure,
 * repeats a GET that succeeded with the key. If that succeeds again, the target wrongly refuses some requests of a
 * valid key. Checks judge this, so the key is not in the result.
 */
export async function findRefusedKeys(target: Target, client: Client, recorder: Recorder): Promise<Disturbance[]> {
  const found: Disturbance[] = [];
  for (const key of Object.values(target.keys)) {
    if (key.expired || key.expiresInSeconds !== null) continue;
    const fromMs = refusedSince(recorder.samplesOf(key.name));
    const earlier = fromMs === null ? undefined : recorder.exchanges().find((each) => isUnsignedRead(each, key.name));
    if (fromMs === null || earlier === undefined) continue;
    const { pathname, search } = new URL(earlier.request.url);
    const again = await client.as(key).send("GET", pathname + search, { fromOrigin: true, unpaced: true });
    if (isRefusal(statusOf(again))) found.push({ kind: "key refused", key: key.name, fromMs });
  }
  return found;
}

const isUnsignedRead = (exchange: Exchange, key: string): boolean =>
  exchange.key === key && exchange.request.method === "GET" && statusOf(exchange) === 200 && !isSigned(exchange);

/** Whether a request was signed. Such a request cannot be repeated, because its signature expires. */
const isSigned = ({ request }: Exchange): boolean =>
  request.headers.some(([name]) => name.toLowerCase() === headerNames.signature.toLowerCase());

/**
 * Returns when the key was first refused after its last success. `null` if the key never succeeded, or was not refused
 * since.
 */
function refusedSince(samples: readonly Sample[]): number | null {
  const accepted = samples.filter(({ status }) => status !== null && !isRefusal(status));
  if (!accepted.some(isAdmitted)) return null;
  const lastMs = accepted.reduce((latest, { sentMs }) => Math.max(latest, sentMs), -Infinity);
  const refused = samples.filter(({ status, headMs }) => isRefusal(status) && headMs >= lastMs);
  return refused.length === 0 ? null : refused.reduce((first, { headMs }) => Math.min(first, headMs), Infinity);
}
