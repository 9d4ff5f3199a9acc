import type { Exchange } from "../evidence/exchange.ts";
import type { Sample } from "../limits/sample.ts";

/** Everything that a run has sent and seen. */
export interface Recorder {
  readonly keep: (exchange: Exchange, sample: Sample) => void;
  /** Keeps what a limiter showed, and not the exchange itself: for traffic by the thousand. */
  readonly keepSample: (key: string | null, sample: Sample) => void;
  readonly exchanges: () => readonly Exchange[];
  /** What the limiter of a key showed since the start of the run, in the order of the answers. */
  readonly samplesOf: (key: string) => readonly Sample[];
  /** Requests sent so far. */
  readonly sent: () => number;
}

export function startRecorder(): Recorder {
  const exchanges: Exchange[] = [];
  const samples = new Map<string, Sample[]>();
  let sent = 0;
  const keepSample = (key: string | null, sample: Sample): void => {
    sent += 1;
    if (key === null) return;
    const known = samples.get(key);
    if (known === undefined) samples.set(key, [sample]);
    else known.push(sample);
  };
  return {
    keep: (exchange, sample) => {
      exchanges.push(exchange);
      keepSample(exchange.key, sample);
    },
    keepSample,
    exchanges: () => exchanges,
    samplesOf: (key) => [...(samples.get(key) ?? [])],
    sent: () => sent,
  };
}
