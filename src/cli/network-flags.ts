import type { Command } from "commander";

import type { Network } from "../base/network/network.ts";
import type { NetworkFlags } from "../target/file.ts";
import { networkOf, type NetworkSettings } from "../target/network.ts";

/** What a person can say of the network on the command line. */
export interface NetworkFlagValues {
  readonly proxy?: string | undefined;
  readonly ca?: string | undefined;
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
}

/** Flags of the network between here and a target; shared by every command that sends something to one. */
export const withNetworkOptions = (command: Command): Command =>
  command
    .option(
      "--proxy <url>",
      "send everything through this proxy, loopback too; none for no proxy (otherwise HTTPS_PROXY, HTTP_PROXY, NO_PROXY)",
    )
    .option("--ca <file>", "certificates of authorities of your own (PEM), trusted besides the machine's")
    .option("--client-cert <file>", "certificate that is shown where the target asks for one (PEM)")
    .option("--client-key <file>", "its key (PEM)");

const names: Readonly<Record<keyof NetworkSettings, string>> = {
  proxy: "--proxy",
  ca: "--ca",
  clientCert: "--client-cert",
  clientKey: "--client-key",
};

const nameOf = (part: keyof NetworkSettings): string => names[part];

export const networkFlagsOf = ({ proxy, ca, clientCert, clientKey }: NetworkFlagValues): NetworkFlags => ({
  network: {
    ...(proxy !== undefined && { proxy }),
    ...(ca !== undefined && { ca }),
    ...(clientCert !== undefined && { clientCert }),
    ...(clientKey !== undefined && { clientKey }),
  },
  nameOf,
});

/**
 * The network of a target that has no file.
 *
 * @throws {UsageProblem}
 */
export const networkFromFlags = (
  flags: NetworkFlagValues,
  environment: Readonly<Record<string, string | undefined>>,
): Network => networkOf(networkFlagsOf(flags).network, { nameOf, folder: "." }, environment);
