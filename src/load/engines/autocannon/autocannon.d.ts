declare module "autocannon" {
  import type { EventEmitter } from "node:events";

  /**
   * The part of autocannon that the harness uses. The published types lag behind.
   *
   * Two of autocannon's features are not used: rates and durations. Rates do not keep a constant pace, and correct
   * latencies for coordinated omission with an expected interval of one millisecond at every rate. At the end of a
   * duration, autocannon aborts the requests in flight.
   */
  interface CannonOptions {
    readonly url: string;
    readonly connections: number;
    readonly amount?: number;
    readonly duration: number;
    readonly sampleInt: number;
    /** Timeout of a request, in seconds. */
    readonly timeout: number;
    readonly bailout: number;
    readonly setupClient: (client: CannonClient) => void;
    readonly tlsOptions?: { readonly cert: string; readonly key: string };
    readonly requests: readonly CannonRequest[];
  }

  interface CannonRequest {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    /** Called for each complete response, just before the `response` event of its client. */
    readonly onResponse: (status: number, body: string) => void;
  }

  /** One connection, which autocannon ends after `responseMax` responses. */
  export interface CannonClient extends EventEmitter {
    responseMax: number | undefined;
    readonly reqsMade: number;
  }

  interface Instance {
    readonly stop: () => void;
  }

  export default function autocannon(options: CannonOptions, done: (error: Error | null) => void): Instance;
}
