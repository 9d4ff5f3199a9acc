import type { HeadInput } from "../behaviour/transport.ts";
import { acceptExpiredKeys, overrideJson, overrideResult, withoutRateHeaders } from "../overrides.ts";
import { setField } from "../json-edit.ts";
import { fault, type Override, faults } from "../patch.ts";
import type { ErrorBodyInput } from "../api-error.ts";
import type { Endpoint } from "../endpoint.ts";

const otherEndpoints: readonly Endpoint[] = [
  "createWebhook",
  "listDeliveries",
  "createAlert",
  "keyUsage",
  "checkOperation",
];
const isOtherEndpoint = ({ endpoint }: Pick<HeadInput, "endpoint">): boolean => otherEndpoints.includes(endpoint);

/** Replaces the JSON body of matching responses by HTML. */
const respondWithHtml = (matches: (input: HeadInput) => boolean): Override =>
  overrideResult("jsonText")((text, _value, input) => (matches(input) ? "<h1>nope</h1>" : text));

const removeErrorForm = (matches: (input: ErrorBodyInput) => boolean): Override =>
  overrideJson("errorBody")
    .when((input) => matches(input))
    .remove("error.status");

/** Makes an override whose functions can read the path of the current request. */
export function withPath(change: (path: () => string) => Override): Override {
  return (base) => {
    let requestPath = "";
    return {
      ...change(() => requestPath)(base),
      servedPath: (path) => {
        requestPath = path;
        return base.servedPath(path);
      },
    };
  };
}

/** Faults that break a rule in one rare case only, such as a 403 or a path that few clients request. */
export const edgeCaseFaults = faults("What the service does 1", {
  "key-usage-is-html": fault("SVC-1", "Key usage is HTML.").by(
    respondWithHtml(({ endpoint, status }) => endpoint === "keyUsage" && status === 200),
  ),
  "errors-elsewhere-are-html": fault("SVC-1", "Errors of webhooks, alerts, keys and operations are HTML.").by(
    respondWithHtml((input) => isOtherEndpoint(input) && input.status >= 400),
  ),
  "errors-declared-html": fault("REQ-4", "Errors are declared as HTML.").by((base) => ({
    contentType: (kind, input) => (input.status >= 400 ? "text/html" : base.contentType(kind, input)),
  })),
  "errors-elsewhere-in-no-form": fault("ERR-4", "Errors of webhooks, alerts, keys and operations fit neither form.").by(
    removeErrorForm(({ endpoint, status }) => isOtherEndpoint({ endpoint }) && status !== 429),
  ),
  "headers-missing-on-403": fault("HDR-2", "A 403 has no rate-limit headers.").by(
    withoutRateHeaders(({ status }) => status === 403),
  ),
  "headers-missing-on-refused-list": fault("HDR-4", "A list that is refused with 429 has no rate-limit headers.").by(
    withoutRateHeaders(({ endpoint, status }) => endpoint === "list" && status === 429),
  ),
  "headers-missing-on-unknown-health": fault(
    "HDR-7",
    "Health of an agent that does not exist has no rate-limit headers.",
  ).by(withoutRateHeaders(({ endpoint, status }) => endpoint === "health" && status === 404)),
  "headers-missing-on-413": fault("HDR-2", "A refusal of a body that is too long has no rate-limit headers.").by(
    withoutRateHeaders(({ status }) => status === 413),
  ),
  "last-page-without-pagination": fault("LST-3", "The last of several pages has no `pagination`.").by(
    overrideJson("listBody")
      .when(({ page, limit, total }) => page > 2 && page === Math.ceil(total / limit))
      .remove("pagination"),
  ),
  "storyteller-without-checks": fault("HLT-3", "The health of one agent has no `checks`.").by(
    overrideJson("healthBody")
      .when(({ agent }) => agent.id === "storyteller")
      .remove("checks"),
  ),
  "uptime-in-milliseconds": fault("HLT-8", "`uptime` is in milliseconds.").by(
    overrideJson("healthBody")((body, { uptimeMs }) => setField(body, "uptime", uptimeMs)),
  ),
  "failure-told-without-agent": fault("HOOK-5", "`agent.failed` has no `agent_id`.").by(
    overrideJson("eventBody")
      .when(({ type }) => type === "agent.failed")
      .remove("agent_id"),
  ),
  "last-usage-in-text": fault("USE-4", "`tokens.used` is text once a key has used more than a thousand tokens.").by(
    overrideJson("usageBody")
      .when(({ tokens }) => tokens.used > 1000)
      .change("tokens.used", String),
  ),
  "expired-key-served-on-second-page": fault(
    "AUTH-4",
    "The list accepts a key that was issued expired from its second page on.",
  ).by(
    withPath((path) =>
      acceptExpiredKeys(
        ({ expiresInSeconds }) => expiresInSeconds === 0,
        (endpoint) => endpoint === "list" && /[?&]page=[2-9]/.test(path()),
      ),
    ),
  ),
  "key-looked-at-last-on-webhooks": fault("AUTH-16", "Creating a webhook checks the body before the key.").by(
    withPath((path) => () => ({ authenticatesFirst: () => path() !== "/v1/webhooks" })),
  ),
});
