import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";

import type { Network } from "./network.ts";

/** What TLS needs to know of a network; empty where it is the machine's own ways. Made once: reading all authorities takes some milliseconds. */
export function secureOptions({ ca, client }: Network): { readonly secureContext?: SecureContext } {
  if (ca === null && client === null) return {};
  return {
    secureContext: createSecureContext({
      ...(ca === null ? {} : { ca: [...getCACertificates("default"), ca] }),
      ...(client === null ? {} : client),
    }),
  };
}
