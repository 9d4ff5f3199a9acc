import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";

import type { Network } from "./network.ts";

/**
 * Returns the TLS options for connections of a network; an empty object if Node's defaults suffice. Callers should keep
 * the result, because reading all trusted authorities takes some milliseconds.
 */
export function tlsOptions({ ca, client }: Network): { readonly secureContext?: SecureContext } {
  if (ca === null && client === null) return {};
  return {
    secureContext: createSecureContext({
      ...(ca === null ? {} : { ca: [...getCACertificates("default"), ca] }),
      ...(client === null ? {} : client),
    }),
  };
}
