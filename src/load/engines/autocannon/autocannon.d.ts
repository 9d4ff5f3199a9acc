declare module "autocannon" {
  import type { EventEmitter } from "node:events";

  /**
   * The part of autocannon that the harness uses, since the published types lag behind.
   *
   * Two features are not used. Its rates do not keep a constant pace, and they switch on a correction for coordinated omission that takes the
   * expected interval for one millisecond at any rate. At the end of a duration it aborts requests in flight.
   */
  interface CannonOptions {
    readonly url: string;
    readonly connections: number;
    readonly amount?: number;
    readonly duration: number;
    readonly sampleInt: number;
    /** Seconds. */
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

  /** One connection. It ends after `responseMax` requests. */
  export interface CannonClient extends EventEmitter {
    responseMax: number | undefined;
    readonly reqsMade: number;
  }

  interface Instance {
    readonly stop: () => void;
  }

  export default function autocannon(options: CannonOptions, done: (error: Error | null) => void): Instance;
}
