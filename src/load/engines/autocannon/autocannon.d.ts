declare module "autocannon" {
  import type { EventEmitter } from "node:events";

  /**
   * The part of autocannon that is used here. Its published types lag behind, so nothing else imports the library.
   *
   * Two of its traits are avoided: its rates are not paced, and the correction for coordinated omission that comes with them takes the
   * expected interval for one millisecond whatever the rate (without a rate it corrects nothing, and refuses to be told so); and at the
   * end of a duration it tears requests off that are on the way.
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
    /** Called when an answer is whole, just before its client's `response` event. */
    readonly onResponse: (status: number, body: string) => void;
  }

  /** One connection; after `responseMax` requests it ends by itself. */
  export interface CannonClient extends EventEmitter {
    responseMax: number | undefined;
    readonly reqsMade: number;
  }

  interface Instance {
    readonly stop: () => void;
  }

  export default function autocannon(options: CannonOptions, done: (error: Error | null) => void): Instance;
}
