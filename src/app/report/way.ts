import { type Network, proxyFor, proxyOrigin } from "../../base/network/network.ts";
import type { ReportedConnection } from "../../report/model/report.ts";

/** How a target was reached, for its report; nothing where that was straight, with nothing but the machine's own authorities. */
export function connectionOf(network: Network, baseUrl: string): { readonly way?: ReportedConnection } {
  const proxy = proxyFor(network, baseUrl);
  const { ca, cert, key } = network.files;
  if (proxy === null && ca === null && cert === null) return {};
  return {
    way: {
      ...(proxy === null ? {} : { proxy: { url: proxyOrigin(proxy), asksWho: new URL(proxy).password !== "" } }),
      ...(ca === null ? {} : { ca }),
      ...(cert === null ? {} : { cert }),
      ...(key === null ? {} : { key }),
    },
  };
}
