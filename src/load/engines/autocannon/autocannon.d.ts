declare module "autocannon" {
  import type { EventEmitter } from "node:events";

  /**
   * Options of autocannon that the harness uses, declared here because the published types are outdated. Leaves out the
   * rate options: with a rate, autocannon adds computed latencies to the measured latencies.
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
    readonly onResponse: (status: number, body: string) => void;
  }

  export interface CannonClient extends EventEmitter {
    responseMax: number | undefined;
    readonly reqsMade: number;
  }

  interface Instance {
    readonly stop: () => void;
  }

  export default function autocannon(options: CannonOptions, done: (error: Error | null) => void): Instance;
}
