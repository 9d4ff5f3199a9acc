import type { Exchange } from "../../evidence/exchange.ts";

/**
 * The parts of a request that decide about its effect. Two requests with the same parts may crash a target in the same
 * way.
 */
export interface RequestContent {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
}

/** Finds requests that may crash the target: those that were in flight when two outages began. */
export interface CrashSuspects {
  /** Remembers a request whose reused connection broke, and which the transport sends again. */
  readonly observeResent: (exchange: Exchange) => void;
  /**
   * Remembers a request that got no response as an outage began.
   *
   * @param isCut whether the connection broke after the request was sent. Otherwise no connection was made, so the
   * request counts only if its first attempt broke (`observeResent`)
   */
  readonly addBroken: (outage: object, exchange: Exchange, isCut: boolean) => void;
  /** Notes that the target is back. */
  readonly endOutage: () => void;
  /** The requests whose connection broke in an outage, as method and path. */
  readonly brokenIn: (outage: object) => readonly string[];
  /** Why a request must not be sent again. `null` if it may be. */
  readonly suspicion: (request: RequestContent) => string | null;
  /** The suspects, as method and path. */
  readonly names: () => readonly string[];
}

export function trackCrashSuspects(): CrashSuspects {
  const broken = new Map<object, Map<string, string>>();
  const suspects = new Map<string, string>();
  const resent = new Set<string>();
  return {
    observeResent: ({ request }) => void resent.add(sentIdentity(request)),
    endOutage: () => resent.clear(),
    addBroken: (outage, { request }, isCut) => {
      const id = sentIdentity(request);
      if (!isCut && !resent.has(id)) return;
      const name = endpointOf(request);
      if ([...broken].some(([each, names]) => each !== outage && names.has(id))) suspects.set(id, name);
      broken.set(outage, new Map([...(broken.get(outage) ?? []), [id, name]]));
    },
    brokenIn: (outage) => [...(broken.get(outage)?.values() ?? [])],
    suspicion: (request) => {
      const name = suspects.size === 0 ? undefined : suspects.get(contentIdentity(request));
      return name === undefined
        ? null
        : `the target was lost twice while it served ${name}, so this request is not sent a third time`;
    },
    names: () => [...new Set(suspects.values())],
  };
}

/** The method and the path of a request. */
export const endpointOf = ({ method, url }: Pick<RequestContent, "method" | "url">): string =>
  `${method} ${new URL(url).pathname}`;

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/**
 * Identifies a request by its method, address and body. Random identifiers of a probe are left out, so that a repeated
 * request is recognised.
 */
const contentIdentity = ({ method, url, body }: RequestContent): string =>
  JSON.stringify([method, url, body ?? ""]).replace(uuid, "");

const sentIdentity = ({ method, url, body }: Exchange["request"]): string =>
  contentIdentity({ method, url, body: body.kind === "text" ? body.text : null });
