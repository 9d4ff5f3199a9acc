/** What of an endpoint the document leaves out. */
type Unshown = "path" | "method" | "parameters" | "answer";

/** One published endpoint. Source: Endpoints, 1 to 11. */
export interface PublishedEndpoint {
  /** Heading of the document. */
  readonly section: string;
  /** Where the document shows none, the one that a client would send. */
  readonly method: "GET" | "POST";
  /** Below the version segment, with `{name}` for what differs; `null` where the document does not show it. */
  readonly path: string | null;
  readonly takesBody: boolean;
  /** Statuses that the document gives it: by its own section, or by those on keys, bodies, limits and failures. */
  readonly statuses: readonly number[];
  readonly unspecified: readonly Unshown[];
}

/** Every endpoint may be refused for its key (Authentication 3), or fail (Errors, Status codes). */
const anywhere = [401, 500] as const;
/** Every endpoint but health is subject to the limits (Limits, Scope of limits 1 and 3). */
const limited = [...anywhere, 429] as const;

/** Every endpoint that the document publishes, in its order. */
export const publishedEndpoints = {
  invoke: {
    section: "Endpoints / 1. Invoke an agent",
    method: "POST",
    path: "/agents/{agent_id}/invoke",
    takesBody: true,
    statuses: [200, 400, 404, ...limited],
    unspecified: [],
  },
  stream: {
    section: "Endpoints / 2. Stream an agent response",
    method: "POST",
    path: "/agents/{agent_id}/stream",
    takesBody: true,
    statuses: [200, 400, 404, ...limited],
    unspecified: [],
  },
  health: {
    section: "Endpoints / 3. Health check",
    method: "GET",
    path: "/agents/{agent_id}/health",
    takesBody: false,
    statuses: [200, 404, ...anywhere],
    unspecified: [],
  },
  list: {
    section: "Endpoints / 4. List agents",
    method: "GET",
    path: "/agents",
    takesBody: false,
    statuses: [200, ...limited],
    unspecified: [],
  },
  usage: {
    section: "Endpoints / 5. Read usage",
    method: "GET",
    path: "/usage",
    takesBody: false,
    statuses: [200, ...limited],
    unspecified: [],
  },
  webhooks: {
    section: "Endpoints / 6. Create a webhook",
    method: "POST",
    path: "/webhooks",
    takesBody: true,
    statuses: [200, 201, 400, ...limited],
    unspecified: ["answer"],
  },
  deliveries: {
    section: "Endpoints / 7. List webhook deliveries",
    method: "GET",
    path: "/webhooks/{webhook_id}/deliveries",
    takesBody: false,
    statuses: [200, 404, ...limited],
    unspecified: ["parameters", "answer"],
  },
  alerts: {
    section: "Endpoints / 8. Create a usage alert",
    method: "POST",
    path: "/alerts",
    takesBody: true,
    statuses: [200, 201, 400, ...limited],
    unspecified: ["answer"],
  },
  keyUsage: {
    section: "Endpoints / 9. Read key usage",
    method: "GET",
    path: "/keys/usage",
    takesBody: false,
    statuses: [200, ...limited],
    unspecified: ["parameters", "answer"],
  },
  operations: {
    section: "Endpoints / 10. Check an asynchronous operation",
    method: "GET",
    path: "/operations/{operation_id}",
    takesBody: false,
    statuses: [200, 404, ...limited],
    unspecified: ["method", "parameters", "answer"],
  },
  batch: {
    section: "Endpoints / 11. Batch submission",
    method: "POST",
    path: null,
    takesBody: true,
    statuses: [200, 201, 400, ...limited],
    unspecified: ["path", "answer"],
  },
} as const satisfies Record<string, PublishedEndpoint>;

export type EndpointName = keyof typeof publishedEndpoints;

export const endpointNames = Object.keys(publishedEndpoints) as readonly EndpointName[];

/** An endpoint that a request was for, and what stood in its path. */
export interface EndpointCall {
  readonly endpoint: EndpointName;
  /** By name, as written on the wire: `agent_id`, `webhook_id`, `operation_id`. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Paths that the document leaves out, as a target says them: below the version segment. */
export interface ConfiguredPaths {
  readonly batch: string | null;
}

const noOwnPaths: ConfiguredPaths = { batch: null };

const segmentsOf = (path: string): readonly string[] => path.replace(/^\//, "").split("/");

/** One segment of a path that the document shows: a text, or the name of what stands there. */
type Wanted = { readonly text: string } | { readonly name: string };

const wantedIn = (path: string): readonly Wanted[] =>
  segmentsOf(path).map((text) => (/^\{.+\}$/.test(text) ? { name: text.slice(1, -1) } : { text }));

/** The paths that the document shows, taken apart once: every check of a run asks which of them an address fits. */
const templates: ReadonlyMap<string, readonly Wanted[]> = new Map(
  Object.entries<PublishedEndpoint>(publishedEndpoints).flatMap(([name, { path }]) =>
    path === null ? [] : [[name, wantedIn(path)]],
  ),
);

/** The endpoints of a URL or path, whatever the method. It may stand under a prefix, and may have a query. */
export function endpointsAtPath(url: string, ownPaths: ConfiguredPaths = noOwnPaths): readonly EndpointCall[] {
  const path = segmentsOf(/^(?:[^:/?#]+:\/\/[^/?#]*)?([^?#]*)/.exec(url)?.[1] ?? "");
  return endpointNames.flatMap((endpoint) => {
    const own = ownPaths[endpoint as keyof ConfiguredPaths] ?? null;
    const template = templates.get(endpoint) ?? (own === null ? null : wantedIn(own));
    const parameters = template === null ? null : parametersIn(path, template);
    return parameters === null ? [] : [{ endpoint, parameters }];
  });
}

/** The endpoint that a request is for; `null` for a path, or a method, that the document does not define. */
export const endpointCalled = (method: string, url: string, own: ConfiguredPaths = noOwnPaths): EndpointCall | null =>
  endpointsAtPath(url, own).find(({ endpoint }) => publishedEndpoints[endpoint].method === method) ?? null;

/** What stands in a path in place of a template's names; `null` where it is another path. */
function parametersIn(given: readonly string[], wanted: readonly Wanted[]): Readonly<Record<string, string>> | null {
  const from = given.length - wanted.length;
  // Below the version segment, which may itself stand under a prefix.
  if (from < 1 || given[from - 1] !== "v1") return null;
  const parameters: Record<string, string> = {};
  for (const [at, want] of wanted.entries()) {
    const value = given[from + at] ?? "";
    if ("text" in want ? value !== want.text : value === "") return null;
    if ("name" in want) parameters[want.name] = value;
  }
  return parameters;
}
