import type { LoadEvidence, LoadSample, SecondCounts } from "../../evidence/load-evidence.ts";
import { rateValues } from "../../spec/headers.ts";

/** Statuses of a gateway whose server is away. Source: RFC 9110, 15.6.3 to 15.6.5. */
const gatewayStatuses = new Set<number | null>([502, 503, 504]);

const hasHeaders = (sample: LoadSample): boolean =>
  sample.malformed !== undefined || rateValues.some((name) => sample[name] !== null);

/**
 * Whether a gateway responded in place of the target: without rate-limit headers. Its body shows nothing: the document has no form for these
 * statuses, so no rule judges it.
 */
export const isOfGateway = (sample: LoadSample): boolean => gatewayStatuses.has(sample.status) && !hasHeaders(sample);

/** The same for the counts of one second: whether all responses of one status may be those of a gateway. */
const hasGatewayResponses = ({ heads }: SecondCounts): boolean =>
  heads.some(
    ({ status, answered, lacking, malformed }) =>
      gatewayStatuses.has(status) && answered > 0 && lacking === answered && malformed === 0,
  );

/**
 * When a gateway responded in place of the target, in epoch milliseconds; `null` if it never did. In front of the embedded server there is no
 * gateway. The target itself need not have responded to the load: discovery has reached it before.
 */
export function gatewaySpan({ requests, summary, server }: LoadEvidence): { fromMs: number; toMs: number } | null {
  if (server !== null) return null;
  const responses = requests.filter(isOfGateway);
  const seconds = summary.filter(hasGatewayResponses);
  if (responses.length + seconds.length === 0) return null;
  return {
    fromMs: smallest([...responses.map(({ headMs }) => headMs), ...seconds.map(({ firstSentMs }) => firstSentMs)]),
    toMs: -smallest([...responses.map(({ endMs }) => -endMs), ...seconds.map(({ lastEndMs }) => -lastEndMs)]),
  };
}

const smallest = (values: readonly number[]): number =>
  values.reduce((least, value) => Math.min(least, value), Infinity);
