import { isLoopback } from "../../target/base-url.ts";
import type { OutgoingRequest } from "../../wire/transport.ts";

/** Why somebody has to agree before requests are sent again. */
export type ConfirmationReason =
  /** They may change something, on a target that is not this machine. `requests` are a method and a path each. */
  | { readonly kind: "changes"; readonly requests: readonly string[] }
  /** The report alone says where the keys go that these variables hold. */
  | { readonly kind: "keys"; readonly variables: readonly string[] };

export interface Intent {
  readonly requests: readonly OutgoingRequest[];
  readonly baseUrl: string;
  /** Whether a person or a target file says the address, and not the report alone. */
  readonly isAddressGiven: boolean;
  /** Variables to whose names the report has led. */
  readonly variables: readonly string[];
}

/**
 * A target that is this machine gets everything at once, any other what reads only; a report that was made by others must not lead variables
 * of ours to an address of its own. `null`: nobody has to agree.
 */
export function confirmationReason({
  requests,
  baseUrl,
  isAddressGiven,
  variables,
}: Intent): ConfirmationReason | null {
  if (isLoopback(baseUrl)) return null;
  const changing = requests
    .filter(({ method }) => method !== "GET")
    .map(({ method, url }) => `${method} ${new URL(url).pathname}`);
  if (changing.length > 0) return { kind: "changes", requests: [...new Set(changing)] };
  return variables.length === 0 || isAddressGiven ? null : { kind: "keys", variables };
}
