import type { Exchange } from "../../evidence/exchange.ts";

/** The parts of a request to compare: with the same method, address and body they may have the same effect. */
export interface Requested {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
}

/** Requests that were in flight when outages began. One that was in flight twice may crash the target. */
export interface Suspects {
  /** Takes a request into account that broke on a reused connection, and that the transport repeats. */
  readonly observeResent: (exchange: Exchange) => void;
  /**
   * Takes a request into account that got no response as an outage began.
   *
   * @param isCut whether the request was in flight. Otherwise it may have been in flight before, and been repeated
   */
  readonly addBroken: (outage: object, exchange: Exchange, isCut: boolean) => void;
  /** Notes that the target is back. */
  readonly endOutage: () => void;
  /** The requests of an outage that broke, as method and path. */
  readonly brokenIn: (outage: object) => readonly string[];
  /** Why a request must not be sent again. `null` if it may be sent. */
  readonly suspicion: (request: Requested) => string | null;
  /** The suspects, as method and path. */
  readonly names: () => readonly string[];
}

export function trackSuspects(): Suspects {
  const broken = new Map<object, Map<string, string>>();
  const suspects = new Map<string, string>();
  const resent = new Set<string>();
  return {
    observeResent: ({ request }) => void resent.add(identityOfSent(request)),
    endOutage: () => resent.clear(),
    addBroken: (outage, { request }, isCut) => {
      const id = identityOfSent(request);
      if (!isCut && !resent.has(id)) return;
      const name = endpointOf(request);
      if ([...broken].some(([each, names]) => each !== outage && names.has(id))) suspects.set(id, name);
      broken.set(outage, new Map([...(broken.get(outage) ?? []), [id, name]]));
    },
    brokenIn: (outage) => [...(broken.get(outage)?.values() ?? [])],
    suspicion: (request) => {
      const name = suspects.size === 0 ? undefined : suspects.get(identityOf(request));
      return name === undefined
        ? null
        : `the target was lost twice while it served ${name}, so this request is not sent a third time`;
    },
    names: () => [...new Set(suspects.values())],
  };
}

/** The method and the path of a request. */
export const endpointOf = ({ method, url }: Pick<Requested, "method" | "url">): string =>
  `${method} ${new URL(url).pathname}`;

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/**
 * Returns the same text for requests that differ only in their key, or in the random identifiers that a probe
 * generates.
 */
const identityOf = ({ method, url, body }: Requested): string =>
  JSON.stringify([method, url, body ?? ""]).replace(uuid, "");

const identityOfSent = ({ method, url, body }: Exchange["request"]): string =>
  identityOf({ method, url, body: body.kind === "text" ? body.text : null });
