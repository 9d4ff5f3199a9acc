import { bodyJson } from "../../../evidence/exchange.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import type { EndpointName } from "../../../spec/endpoints.ts";
import { headerNames } from "../../../spec/headers.ts";
import {
  type AnsweredExchange,
  replaceAt,
  headerOf,
  type JsonPath,
  jsonPathsOf,
  valueAt,
  withHeader,
  withJson,
} from "../edits.ts";
import { type CleanRun, replacingExchanges, type Mutant, mutantOf, replacingDeliveries } from "../mutant.ts";
import { type MutationSite, mutationSites, withDeliveryText } from "../messages.ts";
import { getPath } from "../../../base/json.ts";
import { type Delivery, deliveryJson } from "../../../evidence/delivery.ts";
import { deliveryPolicy } from "../../../spec/events-and-errors.ts";
import { failingWebhook } from "./deliveries.ts";

type ValuesChange = (values: readonly unknown[]) => readonly unknown[] | null;

const allLikeTheFirst: ValuesChange = (values) => (new Set(values).size < 2 ? null : values.map(() => values[0]));
const allAre =
  (value: unknown): ValuesChange =>
  (values) =>
    values.map(() => value);
const firstIs =
  (value: unknown): ValuesChange =>
  (values) =>
    values.length < 2 ? null : values.with(0, value);

type FieldRow = readonly [
  operator: string,
  endpoint: EndpointName,
  path: string,
  expects: readonly ClauseId[],
  change: ValuesChange,
];

const fieldsAcross: readonly FieldRow[] = [
  ["one id for all requests", "invoke", "metadata.request_id", ["INV-8"], allLikeTheFirst],
  ["a version that health does not tell", "invoke", "metadata.agent_version", ["VER-4"], allAre("99.9.9")],
  ["a version that one invoke alone tells", "invoke", "metadata.agent_version", ["VER-4"], firstIs("99.9.9")],
  ["one time for all reports", "health", "uptime", ["HLT-22"], allLikeTheFirst],
  ["one period that is none for all", "usage", "period", ["USE-2"], allAre("this month")],
  ["one page for all that is asked", "list", "pagination.page", ["LST-4"], allAre(1)],
];

interface FoundField {
  readonly exchange: AnsweredExchange;
  readonly body: unknown;
  readonly steps: JsonPath;
}

function findField(sites: readonly MutationSite[], endpoint: EndpointName, path: string): FoundField[] {
  return sites
    .filter((each) => each.endpoint === endpoint && each.status === 200 && each.hasValidKey)
    .flatMap(({ exchange }) => {
      const body = bodyJson(exchange);
      return jsonPathsOf(body, path)
        .slice(0, 1)
        .map((steps) => ({ exchange, body, steps }));
    });
}

function fieldMutant(sites: readonly MutationSite[], [operator, endpoint, path, expects, change]: FieldRow): Mutant[] {
  const found = findField(sites, endpoint, path);
  const [first] = found;
  const values = change(found.map(({ body, steps }) => valueAt(body, steps)));
  if (first === undefined || values === null) return [];
  const where = { place: `several of ${endpoint}`, subject: path, id: first.exchange.id };
  return [
    mutantOf(operator, where, expects, () =>
      replacingExchanges(
        ...found.map(({ exchange, body, steps }, at) => withJson(exchange, replaceAt(body, steps, values[at]))),
      ),
    ),
  ];
}

const headersAcross: readonly (readonly [string, header: string, expects: readonly ClauseId[], to: string])[] = [
  ["one count for all", headerNames.rateRemaining, ["HDR-12", "HDR-13", "HDR-17"], "7"],
  ["one wait for all", headerNames.rateResetAfter, ["HDR-14", "HDR-15"], "31"],
  ["one limit of no tier for all", headerNames.rateLimit, ["HDR-10"], "317"],
];

function headerMutant(
  sites: readonly MutationSite[],
  [operator, header, expects, to]: (typeof headersAcross)[number],
): Mutant[] {
  const found = sites
    .filter(({ hasValidKey, exchange }) => hasValidKey && headerOf(exchange.answer.headers, header) !== null)
    .map(({ exchange }) => exchange);
  const [first] = found;
  if (first === undefined) return [];
  const where = { place: "several of all endpoints", subject: header, id: first.id };
  return [
    mutantOf(operator, where, expects, () =>
      replacingExchanges(...found.map((exchange) => withHeader(exchange, header, () => [to]))),
    ),
  ];
}

function repeatedPage(sites: readonly MutationSite[]): Mutant[] {
  const pageOf = (page: number) =>
    sites.find(({ exchange: { request } }) => new RegExp(`/agents\\?page=${page}&limit=2$`).test(request.url))
      ?.exchange;
  const [first, second] = [pageOf(1), pageOf(2)];
  if (first === undefined || second === undefined) return [];
  const agents: unknown = getPath(bodyJson(first), "data");
  if (!Array.isArray(agents)) return [];
  return [
    mutantOf("the first page again", { place: "several of list", subject: "data", id: second.id }, ["LST-7"], () =>
      replacingExchanges(withJson(second, replaceAt(bodyJson(second), ["data"], agents))),
    ),
  ];
}

/** Returns mutants whose mistake shows in a comparison of responses, such as one `request_id` for all responses. */
export function crossResponseMutants(run: CleanRun): Mutant[] {
  const sites = mutationSites(run);
  return [
    ...fieldsAcross.flatMap((row) => fieldMutant(sites, row)),
    ...headersAcross.flatMap((row) => headerMutant(sites, row)),
    ...repeatedPage(sites),
  ];
}

const typeOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "type");

const withId = (delivery: Delivery, id: unknown): Delivery =>
  withDeliveryText(delivery, JSON.stringify(replaceAt(deliveryJson(delivery), ["id"], id)));

const withRequestOf = (delivery: Delivery, { request, computedSignature }: Delivery): Delivery => ({
  ...delivery,
  request,
  computedSignature,
});

function pairsIn({ deliveries }: CleanRun): (readonly [Delivery, Delivery])[] {
  const found = new Map<string, readonly [Delivery, Delivery]>();
  for (const received of Map.groupBy(
    deliveries.filter(({ hook }) => hook.startsWith("webhook-")),
    ({ hook }) => hook,
  ).values())
    for (const [at, one] of received.entries()) {
      const other = received.slice(at + 1).find((each) => typeOf(each) !== typeOf(one));
      const cell = `${String(typeOf(one))} ${String(other === undefined ? "" : typeOf(other))}`;
      if (other !== undefined && !found.has(cell)) found.set(cell, [one, other]);
    }
  return [...found.values()];
}

function isOfOneRequest(one: Delivery, other: Delivery): boolean {
  const [first, second] = [one, other].map((each) => getPath(deliveryJson(each), "data", "request_id"));
  return typeof first === "string" && first === second;
}

function deliveryPairMutants(run: CleanRun): Mutant[] {
  return pairsIn(run).flatMap(([one, other]) => {
    const place = `deliveries of ${String(typeOf(one))} and ${String(typeOf(other))}`;
    const sameId = mutantOf("one id for two events", { place, subject: "id", id: other.id }, ["HOOK-40"], () =>
      replacingDeliveries(withId(other, getPath(deliveryJson(one), "id"))),
    );
    if (!isOfOneRequest(one, other)) return [sameId];
    // The document does not specify the order of events. Therefore, swapping two events breaks no clause.
    const swapped = mutantOf("two events in another order", { place, subject: "order", id: one.id }, [], () =>
      replacingDeliveries(withRequestOf(one, other), withRequestOf(other, one)),
    );
    return [sameId, swapped];
  });
}

function attemptIdMutants({ deliveries }: CleanRun): Mutant[] {
  return deliveries
    .filter(({ hook, attempt }) => hook === failingWebhook && attempt > 1 && attempt <= deliveryPolicy.maxAttempts)
    .map((delivery) => {
      const { id, attempt } = delivery;
      const where = { place: `deliveries of ${String(typeOf(delivery))}`, subject: `attempt ${attempt}`, id };
      return mutantOf("another id at a later attempt", where, ["HOOK-32"], () =>
        replacingDeliveries(withId(delivery, `other-${attempt}`)),
      );
    });
}

function strayMutants({ deliveries }: CleanRun): Mutant[] {
  const stray = deliveries.find((each) => typeOf(each) === "agent.invoked");
  const narrow = deliveries.find(({ hook }) => hook === "webhook-completed");
  if (stray === undefined || narrow === undefined) return [];
  const where = { place: "deliveries of agent.completed", subject: "type", id: narrow.id };
  return [
    mutantOf("an event for another address", where, ["HOOK-15"], () =>
      replacingDeliveries(withRequestOf(narrow, stray)),
    ),
  ];
}

/** Returns mutants that mix up deliveries, such as one `id` for two events. Each delivery is correct by itself. */
export const crossDeliveryMutants = (run: CleanRun): Mutant[] => [
  ...deliveryPairMutants(run),
  ...attemptIdMutants(run),
  ...strayMutants(run),
];
