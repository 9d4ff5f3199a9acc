type Unspecified = "path" | "method" | "parameters" | "answer";

/** An endpoint that the document publishes. Source: Endpoints, 1 to 11. */
export interface PublishedEndpoint {
  readonly section: string;
  /** The documented method, or the method that clients would try if the document shows none. */
  readonly method: "GET" | "POST";
  /** Path below `/v1`, with parameters as `{name}`; `null` if the document does not show it. */
  readonly path: string | null;
  readonly statuses: readonly number[];
  readonly unspecified: readonly Unspecified[];
}

/** Every endpoint may reject a key with 401 (Authentication 3), or fail with 500 (Errors, Status codes). */
const commonStatuses = [401, 500] as const;
/** Limits apply to every endpoint except health (Limits, Scope of limits 1 and 3). */
const limitedStatuses = [...commonStatuses, 429] as const;

const endpointOf =
  (method: "GET" | "POST") =>
  <P extends string | null, U extends Unspecified = never>(
    section: string,
    path: P,
    statuses: readonly number[],
    ...unspecified: readonly U[]
  ) => ({ section: `Endpoints / ${section}`, method, path, statuses, unspecified });
const get = endpointOf("GET");
const post = endpointOf("POST");

export const publishedEndpoints = {
  invoke: post("1. Invoke an agent", "/agents/{agent_id}/invoke", [200, 400, 404, ...limitedStatuses]),
  stream: post("2. Stream an agent response", "/agents/{agent_id}/stream", [200, 400, 404, ...limitedStatuses]),
  health: get("3. Health check", "/agents/{agent_id}/health", [200, 404, ...commonStatuses]),
  list: get("4. List agents", "/agents", [200, ...limitedStatuses]),
  usage: get("5. Read usage", "/usage", [200, ...limitedStatuses]),
  webhooks: post("6. Create a webhook", "/webhooks", [200, 201, 400, ...limitedStatuses], "answer"),
  deliveries: get(
    "7. List webhook deliveries",
    "/webhooks/{webhook_id}/deliveries",
    [200, 404, ...limitedStatuses],
    "parameters",
    "answer",
  ),
  alerts: post("8. Create a usage alert", "/alerts", [200, 201, 400, ...limitedStatuses], "answer"),
  keyUsage: get("9. Read key usage", "/keys/usage", [200, ...limitedStatuses], "parameters", "answer"),
  operations: get(
    "10. Check an asynchronous operation",
    "/operations/{operation_id}",
    [200, 404, ...limitedStatuses],
    "method",
    "parameters",
    "answer",
  ),
  batch: post("11. Batch submission", null, [200, 201, 400, ...limitedStatuses], "path", "answer"),
} as const satisfies Record<string, PublishedEndpoint>;

export type EndpointName = keyof typeof publishedEndpoints;

export const endpointNames = Object.keys(publishedEndpoints) as readonly EndpointName[];

export const postEndpoints = endpointNames.filter((name) => publishedEndpoints[name].method === "POST");

export interface EndpointCall {
  readonly endpoint: EndpointName;
  /** Values of the path parameters by name, e.g. `agent_id`. The values stay percent-encoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Paths below `/v1` that the document leaves out. The target file provides them. */
export interface ConfiguredPaths {
  readonly batch: string | null;
}

const noOwnPaths: ConfiguredPaths = { batch: null };

const segmentsOf = (path: string): readonly string[] => path.replace(/^\//, "").split("/");

type TemplateSegment = { readonly text: string } | { readonly name: string };

const segmentsOfTemplate = (path: string): readonly TemplateSegment[] =>
  segmentsOf(path).map((text) => (/^\{.+\}$/.test(text) ? { name: text.slice(1, -1) } : { text }));

/** The published paths, split into segments once, because checks match many URLs against them. */
const templates: ReadonlyMap<string, readonly TemplateSegment[]> = new Map(
  Object.entries<PublishedEndpoint>(publishedEndpoints).flatMap(([name, { path }]) =>
    path === null ? [] : [[name, segmentsOfTemplate(path)]],
  ),
);

/** Returns the endpoints at this URL or path, whatever the method, the query, and the prefix before `/v1`. */
export function endpointsAtPath(url: string, ownPaths: ConfiguredPaths = noOwnPaths): readonly EndpointCall[] {
  const path = segmentsOf(/^(?:[^:/?#]+:\/\/[^/?#]*)?([^?#]*)/.exec(url)?.[1] ?? "");
  return endpointNames.flatMap((endpoint) => {
    const own = ownPaths[endpoint as keyof ConfiguredPaths] ?? null;
    const template = templates.get(endpoint) ?? (own === null ? null : segmentsOfTemplate(own));
    const parameters = template === null ? null : parametersIn(path, template);
    return parameters === null ? [] : [{ endpoint, parameters }];
  });
}

/** Returns the endpoint of a request, or `null` if the document does not define its path or method. */
export const endpointOfRequest = (
  method: string,
  url: string,
  own: ConfiguredPaths = noOwnPaths,
): EndpointCall | null =>
  endpointsAtPath(url, own).find(({ endpoint }) => publishedEndpoints[endpoint].method === method) ?? null;

function parametersIn(
  given: readonly string[],
  template: readonly TemplateSegment[],
): Readonly<Record<string, string>> | null {
  const from = given.length - template.length;
  // `v1` must come directly before the template's first segment. Other segments may precede `v1`.
  if (from < 1 || given[from - 1] !== "v1") return null;
  const parameters: Record<string, string> = {};
  for (const [at, want] of template.entries()) {
    const value = given[from + at] ?? "";
    if ("text" in want ? value !== want.text : value === "") return null;
    if ("name" in want) parameters[want.name] = value;
  }
  return parameters;
}
