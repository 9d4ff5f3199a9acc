import { rateLimitHeaders } from "../../spec/headers.ts";
import type { HeadInput } from "../behaviour/transport.ts";
import { acceptExpiredKeys, overrideJson, overrideResult } from "../overrides.ts";
import { setField } from "../json-edit.ts";
import { type Override, faults } from "../patch.ts";
import type { ErrorBodyInput, Operation } from "../api-error.ts";

const elsewhere: readonly Operation[] = [
  "createWebhook",
  "listDeliveries",
  "createAlert",
  "keyUsage",
  "checkOperation",
];
const isElsewhere = ({ operation }: Pick<HeadInput, "operation">): boolean => elsewhere.includes(operation);

/** Writes another body than JSON in answers that match. */
const otherText = (matches: (facts: HeadInput) => boolean): Override =>
  overrideResult("jsonText")((text, _value, facts) => (matches(facts) ? "<h1>nope</h1>" : text));

/** Leaves all four headers off answers that match. */
const bare = (matches: (facts: HeadInput) => boolean): Override =>
  overrideResult("rateHeaders")((headers, _reading, _nowMs, facts) =>
    matches(facts) ? headers.filter(([name]) => !rateLimitHeaders.some((each) => each === name)) : headers,
  );

const neither = (matches: (facts: ErrorBodyInput) => boolean): Override =>
  overrideJson("errorBody")
    .when((facts) => matches(facts))
    .remove("error.status");

/** What depends on the path of the request that is being answered. */
function knowingPath(change: (path: () => string) => Override): Override {
  return (base) => {
    let asked = "";
    return {
      ...change(() => asked)(base),
      servedPath: (path) => {
        asked = path;
        return base.servedPath(path);
      },
    };
  };
}

/** What is wrong in one corner only, of what a sentence says of a whole set. */
export const edgeCaseFaults = faults("What the service does 1", {
  "key-usage-is-html": [
    ["SVC-1"],
    "Key usage is HTML.",
    otherText(({ operation, status }) => operation === "keyUsage" && status === 200),
  ],
  "errors-elsewhere-are-html": [
    ["SVC-1"],
    "Errors of webhooks, alerts, keys and operations are HTML.",
    otherText((facts) => isElsewhere(facts) && facts.status >= 400),
  ],
  "errors-declared-html": [
    ["REQ-4"],
    "Errors are declared as HTML.",
    (base) => ({
      contentType: (kind, facts) => (facts.status >= 400 ? "text/html" : base.contentType(kind, facts)),
    }),
  ],
  "errors-elsewhere-in-no-form": [
    ["ERR-4"],
    "Errors of webhooks, alerts, keys and operations fit neither form.",
    neither(({ operation, status }) => isElsewhere({ operation }) && status !== 429),
  ],
  "headers-missing-on-403": [["HDR-2"], "A 403 has no rate-limit headers.", bare(({ status }) => status === 403)],
  "headers-missing-on-refused-list": [
    ["HDR-4"],
    "A list that is refused with 429 has no rate-limit headers.",
    bare(({ operation, status }) => operation === "list" && status === 429),
  ],
  "headers-missing-on-unknown-health": [
    ["HDR-7"],
    "Health of an agent that does not exist has no rate-limit headers.",
    bare(({ operation, status }) => operation === "health" && status === 404),
  ],
  "headers-missing-on-413": [
    ["HDR-2"],
    "A refusal of a body that is too long has no rate-limit headers.",
    bare(({ status }) => status === 413),
  ],
  "last-page-without-pagination": [
    ["LST-3"],
    "The last of several pages has no `pagination`.",
    overrideJson("listBody")
      .when(({ page, limit, total }) => page > 2 && page === Math.ceil(total / limit))
      .remove("pagination"),
  ],
  "storyteller-without-checks": [
    ["HLT-3"],
    "The health of one agent has no `checks`.",
    overrideJson("healthBody")
      .when(({ agent }) => agent.id === "storyteller")
      .remove("checks"),
  ],
  "uptime-in-milliseconds": [
    ["HLT-8"],
    "`uptime` is in milliseconds.",
    overrideJson("healthBody")((body, { uptimeMs }) => setField(body, "uptime", uptimeMs)),
  ],
  "failure-told-without-agent": [
    ["HOOK-5"],
    "`agent.failed` is told without `agent_id`.",
    overrideJson("eventBody")
      .when(({ type }) => type === "agent.failed")
      .remove("agent_id"),
  ],
  "last-usage-in-text": [
    ["USE-4"],
    "`tokens.used` is text once a key has used more than a thousand tokens.",
    overrideJson("usageBody")
      .when(({ tokens }) => tokens.used > 1000)
      .change("tokens.used", String),
  ],
  "expired-key-served-on-second-page": [
    ["AUTH-4"],
    "The list answers a key that was issued expired from its second page on.",
    knowingPath((path) =>
      acceptExpiredKeys(
        ({ expiresInSeconds }) => expiresInSeconds === 0,
        (operation) => operation === "list" && /[?&]page=[2-9]/.test(path()),
      ),
    ),
  ],
  "key-looked-at-last-on-webhooks": [
    ["AUTH-16"],
    "Creating a webhook looks at the body before the key.",
    knowingPath((path) => () => ({ authenticatesFirst: () => path() !== "/v1/webhooks" })),
  ],
});
