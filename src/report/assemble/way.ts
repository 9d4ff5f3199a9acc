import { type Network, proxyFor, shownProxy } from "../../base/network/network.ts";
import type { ReportedWay } from "../report.ts";

/** How a target was reached, for its report; nothing where that was straight, with nothing but the machine's own authorities. */
export function wayOf(network: Network, baseUrl: string): { readonly way?: ReportedWay } {
  const proxy = proxyFor(network, baseUrl);
  const { ca, cert, key } = network.files;
  if (proxy === null && ca === null && cert === null) return {};
  return {
    way: {
      ...(proxy === null ? {} : { proxy: { url: shownProxy(proxy), asksWho: new URL(proxy).password !== "" } }),
      ...(ca === null ? {} : { ca }),
      ...(cert === null ? {} : { cert }),
      ...(key === null ? {} : { key }),
    },
  };
}
