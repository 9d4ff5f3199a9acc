import { isGatewayStatus } from "../../base/http-status.ts";
import type { LoadEvidence, LoadSample, SecondCounts } from "../../evidence/load-evidence.ts";
import { gatewaySpells, type ResponseCounts } from "../../rules/gateway.ts";
import { rateValues } from "../../spec/headers.ts";

const hasHeaders = (sample: LoadSample): boolean =>
  sample.malformed !== undefined || rateValues.some((name) => sample[name] !== null);

/**
 * Whether a response may come from a gateway in front of the target: it has a gateway's status and no rate-limit
 * headers. The body is not checked, because the document has no form for these statuses.
 */
export const isGatewayLike = (sample: LoadSample): boolean => isGatewayStatus(sample.status) && !hasHeaders(sample);

/** Whether all responses of one status look like those of a gateway. */
const areGatewayLike = ({ status, answered, lacking, malformed }: SecondCounts["heads"][number]): boolean =>
  isGatewayStatus(status) && lacking === answered && malformed === 0;

/**
 * Returns when a gateway responded in place of the target, in epoch milliseconds; `null` if none did. There is no
 * gateway in front of the embedded server. The target itself need not have responded during the load, because discovery
 * reached it before.
 */
export function gatewaySpan({ requests, summary, server }: LoadEvidence): { fromMs: number; toMs: number } | null {
  if (server !== null) return null;
  const spells = gatewaySpells([...requests.flatMap(countsOfSample), ...summary.map(countsOfSecond)]) ?? [];
  const [first, last] = [spells[0], spells.at(-1)];
  return first === undefined || last === undefined ? null : { fromMs: first.fromMs, toMs: last.toMs };
}

function countsOfSample(sample: LoadSample): ResponseCounts[] {
  if (sample.status === null) return [];
  const gatewayLike = Number(isGatewayLike(sample));
  const { sentMs, headMs } = sample;
  return [{ sentMs, fromMs: headMs, toMs: headMs, gatewayLike, others: 1 - gatewayLike }];
}

function countsOfSecond({ heads, admitted, refused, failed, firstSentMs, lastEndMs }: SecondCounts): ResponseCounts {
  const gatewayLike = heads.filter(areGatewayLike).reduce((sum, { answered }) => sum + answered, 0);
  const others = admitted + refused + failed - gatewayLike;
  return { sentMs: firstSentMs, fromMs: firstSentMs, toMs: lastEndMs, gatewayLike, others };
}
