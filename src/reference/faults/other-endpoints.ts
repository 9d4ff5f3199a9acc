import { getPath } from "../../base/json.ts";
import { getOrAdd } from "../../base/memoize.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { apiError, fieldError } from "../behaviour/errors.ts";
import { usedPercent } from "../behaviour/alerts.ts";
import type { AsyncOperation } from "../behaviour/batches.ts";
import type { ResponseHead } from "../behaviour/transport.ts";
import { fieldsOf, setField } from "../json-edit.ts";
import {
  always,
  fault,
  faults,
  overrideJson,
  overrideResult,
  overrideSuccessStatus,
  type Override,
  withLast,
} from "../patch.ts";

const listBody = overrideJson("listBody");
const usageBody = overrideJson("usageBody");

const omitFromUsage = (matches: (head: ResponseHead) => boolean): Override =>
  overrideResult("isInUsage")((isInUsage, head) => isInUsage && !matches(head));

const listFaults = faults("Endpoints / 4. List agents", {
  "list-answers-203": fault("LST-1", "The list responds with 203.").by(overrideSuccessStatus("list", 203)),
  "list-answers-201-at-times": fault("LST-1", "Each third list responds with 201.").by(
    overrideSuccessStatus("list", 201, 3),
  ),
  "list-data-renamed": fault("LST-2", "`data` is called `agents`.").by(listBody.rename("data", "agents")),
  "list-data-is-object": fault("LST-2", "`data` is an object.").by(listBody.change("data", (items) => ({ items }))),
  "pagination-is-text": fault("LST-3", "`total` is text.").by(listBody.change("pagination.total", String)),
  "pagination-missing": fault("LST-3", "`pagination` is missing.").by(listBody.remove("pagination")),
  "pages-missing": fault("LST-3", "`pages` is missing.").by(listBody.remove("pagination.pages")),
  "total-is-null-past-the-end": fault("LST-3", "`total` is `null` on a page past the end.").by(
    listBody.when(({ page, limit, total }) => (page - 1) * limit >= total).set("pagination.total", null),
  ),
  "page-counts-from-0": fault("LST-4", "`pagination.page` is one less than the requested page.").by(
    listBody((body, { page }) => setField(body, "pagination.page", page - 1)),
  ),
  "pages-rounded-down": fault("LST-5", "`pages` is rounded down.").by(
    listBody((body, { total, limit }) => setField(body, "pagination.pages", Math.floor(total / limit))),
  ),
  "page-too-short": fault("LST-11", "A page has one agent less than its limit allows.").by(
    overrideResult("pageItems")((items) => items.slice(0, -1)),
  ),
  "page-too-long": fault(["LST-6", "LST-7"], "A page has one agent more than its limit.").by(() => ({
    pageItems: (agents, { page, limit }) => agents.slice((page - 1) * limit, page * limit + 1),
  })),
  "pages-overlap": fault("LST-7", "A page begins with the last agent of the page before it.").by(
    overrideResult("pageItems")(({ length }, agents, { page, limit }) => {
      const from = Math.max(0, (page - 1) * limit - 1);
      return agents.slice(from, from + length);
    }),
  ),
  "page-ignored": fault("LST-7", "Every page is the first one.").by((base) => ({
    pageItems: (agents, { limit }) => base.pageItems(agents, { page: 1, limit }),
  })),
  "limit-ignored": fault(["LST-4", "LST-6", "LST-7"], "`page` and `limit` are ignored.").by((base) => ({
    effectivePage: () => base.effectivePage(undefined, undefined),
  })),
});

const usageFaults = faults("Resources / Usage report", {
  "usage-answers-203": fault("USE-1", "Usage responds with 203.").by(overrideSuccessStatus("usage", 203)),
  "usage-answers-201-at-times": fault("USE-1", "Each third reading of usage responds with 201.").by(
    overrideSuccessStatus("usage", 201, 3),
  ),
  "period-is-no-time": fault("USE-2", "`period` is no timestamp.").by(usageBody.set("period", "this month")),
  "period-is-number": fault("USE-2", "`period` is Unix seconds.").by(usageBody.set("period", 1_772_323_200)),
  "requests-are-text": fault("USE-3", "`requests.used` is text.").by(usageBody.change("requests.used", String)),
  "requests-without-remaining": fault("USE-3", "`requests.remaining` is missing.").by(
    usageBody.remove("requests.remaining"),
  ),
  "tokens-are-text": fault("USE-4", "`tokens.limit` is text.").by(usageBody.change("tokens.limit", String)),
  "tokens-without-used": fault("USE-4", "`tokens.used` is missing.").by(usageBody.remove("tokens.used")),
  "remaining-is-the-limit": fault("USE-5", "`requests.remaining` is always the limit.").by(
    usageBody((body, { hour }) => setField(body, "requests.remaining", hour.limit)),
  ),
  "token-limit-of-nobody": fault("USE-6", "`tokens.limit` is no tier's.").by(
    usageBody((body, { tokens }) =>
      setField(body, "tokens", { used: tokens.used, limit: 12_345_678, remaining: 12_345_678 - tokens.used }),
    ),
  ),
  "token-limit-of-free-keys": fault("USE-6", "`tokens.limit` of Free keys is ten times the tier's.").by(
    usageBody((body, { tokens: { used, limit } }) =>
      limit === publishedTiers.free.tokensPerMonth
        ? setField(body, "tokens", { used, limit: limit * 10, remaining: limit * 10 - used })
        : body,
    ),
  ),
  "requests-do-not-grow": fault("USE-7", "`requests.used` is always 0.").by(
    usageBody((body, { hour: { limit } }) => setField(body, "requests", { used: 0, limit, remaining: limit })),
  ),
  "usage-without-streams": fault("USE-7", "`requests.used` does not grow with streams, but `Remaining` falls.").by(
    omitFromUsage(({ endpoint }) => endpoint === "stream"),
    ["ALR-3"],
  ),
  "usage-without-errors": fault(
    "USE-7",
    "`requests.used` does not grow with requests that end in a 4xx, but `Remaining` falls.",
  ).by(
    omitFromUsage(({ status }) => status >= 400 && status < 500),
    ["ALR-3"],
  ),
  "usage-without-lists": fault("USE-7", "`requests.used` does not grow with lists, but `Remaining` falls.").by(
    omitFromUsage(({ endpoint }) => endpoint === "list"),
    ["ALR-3"],
  ),
  "tokens-do-not-grow": fault("USE-8", "`tokens.used` is always 0.").by(
    usageBody((body, { tokens: { limit } }) => setField(body, "tokens", { used: 0, limit, remaining: limit })),
  ),
  "tokens-of-streams-uncounted": fault("USE-8", "`tokens.used` does not grow by the tokens of streams.").by((base) => ({
    chargeTokens: (account, count, nowMs, endpoint) => {
      if (endpoint !== "stream") base.chargeTokens(account, count, nowMs, endpoint);
    },
  })),
  "tokens-grow-twice": fault("USE-8", "`tokens.used` grows by twice the tokens.").by(
    usageBody((body, { tokens: { used, limit } }) =>
      setField(body, "tokens", { used: used * 2, limit, remaining: Math.max(0, limit - used * 2) }),
    ),
  ),
});

const metricsBody = overrideJson("metricsBody");

const crashOn = (field: string, type: string): Override =>
  overrideResult("validateWebhook")((error, body) =>
    typeof getPath(body, field) === type ? apiError("crash", "The server failed.") : error,
  );

const webhookFaults = faults("Endpoints / 6. Create a webhook", {
  "webhook-with-secret-refused": fault("WHK-1", "A webhook with a secret is refused.").by(
    overrideResult("validateWebhook")((error, body) =>
      getPath(body, "secret") === undefined ? error : fieldError("invalid-input", "secret", "is not supported"),
    ),
  ),
  "webhook-of-several-events-refused": fault("WHK-1", "A webhook of more than one event type is refused.").by(
    overrideResult("validateWebhook")((error, body) => {
      const events = getPath(body, "events");
      const hasSeveral = Array.isArray(events) && events.length > 1;
      return hasSeveral ? fieldError("invalid-input", "events", "must have one entry") : error;
    }),
  ),
  "webhook-url-without-query": fault("WHK-1", "The query of a webhook's `url` is dropped when it is called.").by(
    overrideResult("deliveryUrl")((url) => url.replace(/\?.*$/, "")),
  ),
  "webhook-url-without-query-on-retries": fault("WHK-1", "The query of a webhook's `url` is dropped in retries.").by(
    overrideResult("deliveryUrl")((url, _url, { attempt }) => (attempt > 1 ? url.replace(/\?.*$/, "") : url)),
  ),
  "webhook-query-written-again": fault("WHK-1", "The query of a webhook's `url` is parsed and written again.").by(
    overrideResult("deliveryUrl")((url) => {
      const written = new URL(url);
      written.search = written.searchParams.toString();
      return written.href;
    }),
  ),
  "webhook-url-number-crashes": fault("WHK-2", "A `url` that is a number responds with 500.").by(
    crashOn("url", "number"),
  ),
  "webhook-events-text-crashes": fault("WHK-2", "`events` that is a text responds with 500.").by(
    crashOn("events", "string"),
  ),
  "agent-of-webhook-ignored": fault("WHK-3", "A webhook gets the events of every agent.").by(
    always("selectsAgent", true),
  ),
});

const deliveryListFaults = faults("Endpoints / 7. List webhook deliveries", {
  "deliveries-not-listed": fault("WHK-7", "There is no list of deliveries.").by(() => ({
    servedPath: (path) => path.replace(/^(\/v1\/webhooks\/[^/]+)\/deliveries/, "$1/nothing"),
  })),
  "deliveries-202": fault("WHK-7", "The list of deliveries responds with 202.").by(
    overrideSuccessStatus("listDeliveries", 202),
  ),
});

const metricsFaults = faults("Resources / Webhook metrics", {
  "metrics-counts-as-text": fault("WHK-9", "`total_deliveries` is a text.").by(
    metricsBody.change("total_deliveries", String),
  ),
  "metrics-successful-as-share": fault("WHK-9", "`successful` is a share.").by(
    metricsBody.change("successful", () => 0.995),
  ),
  "metrics-without-failed": fault("WHK-9", "`failed` is missing.").by(metricsBody.remove("failed")),
  "metrics-id-number": fault("WHK-9", "`webhook_id` of the metrics is a number.").by(
    metricsBody.change("webhook_id", (id) => Number(String(id).replace(/\D/g, ""))),
  ),
  "metrics-average-with-unit": fault("WHK-9", "`average_response_time` is a text with its unit.").by(
    metricsBody.change("average_response_time", (value) => `${String(value)}ms`),
  ),
  "metrics-last-in-seconds": fault("WHK-9", "`last_delivery` is a number.").by(
    metricsBody.change("last_delivery", (time) => Date.parse(String(time)) / 1000),
  ),
  "metrics-total-too-high": fault("WHK-11", "`total_deliveries` counts more than what ended.").by(
    metricsBody.change("total_deliveries", (total) => Number(total) + 1),
  ),
  "metrics-only-failures": fault("WHK-11", "`total_deliveries` counts only failed deliveries.").by(
    metricsBody((body) => setField(body, "total_deliveries", getPath(body, "failed"))),
  ),
});

const alertFaults = faults("Endpoints / 8. Create a usage alert", {
  "alert-refused": fault("ALR-1", "Every alert is refused.").by(
    always("validateAlert", fieldError("invalid-input", "type", "is not supported")),
  ),
  "alert-missing": fault("ALR-1", "There are no alerts.").by(() => ({
    servedPath: (path) => path.replace(/^\/v1\/alerts/, "/v1/nothing"),
  })),
  "alert-threshold-as-fraction": fault(
    "ALR-3",
    "The threshold is compared with hundred times the percentage that was used.",
  ).by(() => ({
    firesAlert: (threshold, { before, after }) =>
      usedPercent(before) < threshold * 100 && usedPercent(after) >= threshold * 100,
  })),
});

const handleBody = overrideJson("handleBody");

export const withoutVersionIn = (matches: (operation: AsyncOperation) => boolean): Override =>
  handleBody.when(matches).change("check_url", (path) => String(path).replace("/v1/", "/"));

const operationFaults = faults("Resources / Operation handle", {
  "operation-without-id": fault("OPS-1", "The handle of an operation has no `operation_id`.").by(
    handleBody.remove("operation_id"),
  ),
  "operation-id-renamed": fault("OPS-1", "The handle of an operation calls its id `id`.").by(
    handleBody.rename("operation_id", "id"),
  ),
  "operation-id-number": fault("OPS-1", "The id of an operation is a number.").by(
    handleBody.change("operation_id", (id) => Number(String(id).replace(/\D/g, ""))),
  ),
  "operation-begins-running": fault("OPS-2", "A new operation has the status `running`.").by(
    handleBody.change("status", () => "running"),
  ),
  "operation-status-upper-case": fault("OPS-2", "The status of a new operation is in upper case.").by(
    handleBody.change("status", (status) => String(status).toUpperCase()),
  ),
  "operation-without-status": fault("OPS-2", "The handle of an operation has no `status`.").by(
    handleBody.remove("status"),
  ),
  "check-url-without-version": fault("OPS-3", "`check_url` lacks the version.").by(withoutVersionIn(() => true)),
  "check-url-without-version-later": fault(
    "OPS-3",
    "`check_url` lacks the version, from a key's second operation on.",
  ).by((base) => {
    const ids = new Map<string, Set<string>>();
    return withoutVersionIn(({ owner, id }) => getOrAdd(ids, owner, () => new Set()).add(id).size > 1)(base);
  }),
  "check-url-without-version-of-three": fault(
    "OPS-3",
    "`check_url` lacks the version for a batch of three or more.",
  ).by(withoutVersionIn(({ total }) => total >= 3)),
  "check-url-below-agent-for-keys-of-one-agent": fault(
    "OPS-3",
    "`check_url` is a path below the agent if the key is restricted to it.",
  ).by(
    withLast("permits", (last) =>
      handleBody
        .when(() => (last()?.[0].agents ?? null) !== null)
        .change("check_url", (path) => String(path).replace("/v1/", "/v1/agents/echo/")),
    ),
  ),
  "check-url-absolute": fault("OPS-3", "`check_url` is a whole URL.").by(
    handleBody.change("check_url", (path) => `https://agents.example${String(path)}`),
  ),
  "check-url-of-another": fault("OPS-3", "`check_url` names another operation.").by(
    handleBody.change("check_url", (path) => `${String(path)}0`),
  ),
  "operation-without-check-url": fault("OPS-3", "The handle of an operation has no `check_url`.").by(
    handleBody.remove("check_url"),
  ),
});

const batchFaults = faults("Endpoints / 11. Batch submission", {
  "batch-refused": fault("BAT-1", "Every batch is refused.").by(
    always("validateBatch", fieldError("invalid-input", "batch", "is not supported")),
  ),
  "batch-of-one": fault("BAT-1", "A batch of more than one entry is refused.").by(
    overrideResult("validateBatch")((error, body) => {
      const { batch } = fieldsOf(body);
      const hasSeveral = Array.isArray(batch) && batch.length > 1;
      return error ?? (hasSeveral ? fieldError("invalid-input", "batch", "must have one entry") : null);
    }),
  ),
  "batch-under-another-name": fault("BAT-1", "A batch is expected under the name `requests`.").by(() => ({
    validateBatch: (body) => ("requests" in fieldsOf(body) ? null : fieldError("missing-field", "requests", "missing")),
  })),
});

export const otherEndpointFaults = [
  ...listFaults,
  ...usageFaults,
  ...webhookFaults,
  ...deliveryListFaults,
  ...metricsFaults,
  ...alertFaults,
  ...operationFaults,
  ...batchFaults,
];
