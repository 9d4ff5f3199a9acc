import type { Exchange } from "../../evidence/exchange.ts";

export interface RequestContent {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
}

/** Finds requests that can crash the target. A request is a suspect if its connection broke in two outages. */
export interface CrashSuspects {
  /** Call this for each request that the transport resends because its connection broke. */
  readonly observeResent: (exchange: Exchange) => void;
  /**
   * Call this for each request that an outage left without a complete response. `isCut`: the connection broke after the
   * request was sent.
   */
  readonly addBroken: (outage: object, exchange: Exchange, isCut: boolean) => void;
  readonly endOutage: () => void;
  /** Returns the method and path of each request whose connection broke at the beginning of an outage. */
  readonly brokenIn: (outage: object) => readonly string[];
  /** If a request could crash the target, returns why it must not be sent. Otherwise, returns `null`. */
  readonly suspicion: (request: RequestContent) => string | null;
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

export const endpointOf = ({ method, url }: Pick<RequestContent, "method" | "url">): string =>
  `${method} ${new URL(url).pathname}`;

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Returns the same text for requests that differ only in UUIDs. A repeated probe generates new UUIDs. */
const contentIdentity = ({ method, url, body }: RequestContent): string =>
  JSON.stringify([method, url, body ?? ""]).replace(uuid, "");

const sentIdentity = ({ method, url, body }: Exchange["request"]): string =>
  contentIdentity({ method, url, body: body.kind === "text" ? body.text : null });
