import type { Delivery } from "../../../evidence/delivery.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { deliveryPolicy } from "../../../spec/events-and-errors.ts";
import { headerNames } from "../../../spec/headers.ts";
import { changeHeader, headerOf } from "../edits.ts";
import { type CleanRun, replacingDeliveries, type Mutant, mutantOf, withoutDelivery } from "../mutant.ts";
import { deliveryPlaceOf, withDeliveryText } from "../messages.ts";

export function deliveriesToMutate({ deliveries }: CleanRun): Delivery[] {
  const known = new Set<string>();
  return deliveries.filter((delivery) => {
    const isLater = delivery.attempt > 1 && delivery.reply.kind !== "answered";
    const cell =
      delivery.hook === failingWebhook
        ? `${failingWebhook} ${delivery.attempt}`
        : [deliveryPlaceOf(delivery), delivery.computedSignature === null, isLater].join(" ");
    if (!delivery.hook.startsWith("webhook-") || known.has(cell)) return false;
    known.add(cell);
    return true;
  });
}

/** Name of the webhook whose receiver fails every delivery. */
export const failingWebhook = "webhook-failing";

type DeliveryOperator = readonly [
  operator: string,
  subject: string,
  expects: readonly ClauseId[],
  change: (delivery: Delivery) => Delivery | null,
];

const signature = headerNames.deliverySignature;

const changeSignature =
  (change: (value: string) => readonly string[]) =>
  (delivery: Delivery): Delivery | null =>
    headerOf(delivery.request.headers, signature) === null || delivery.computedSignature === null
      ? null
      : withHeaders(delivery, changeHeader(delivery.request.headers, signature, change));

const withHeaders = (delivery: Delivery, headers: Delivery["request"]["headers"]): Delivery => ({
  ...delivery,
  request: { ...delivery.request, headers },
});

const reverseText = (digits: string): string => digits.split("").toReversed().join("");

const bodyTextOf = ({ request: { body } }: Delivery): string => (body.kind === "text" ? body.text : "");

const deliveryOperators: readonly DeliveryOperator[] = [
  ["a signature left out", signature, ["HOOK-21"], changeSignature(() => [])],
  ["a signature in capitals", signature, ["HOOK-21"], changeSignature((value) => [value.toUpperCase()])],
  ["a signature with its method", signature, ["HOOK-21"], changeSignature((value) => [`sha256=${value}`])],
  [
    "a signature in Base64",
    signature,
    ["HOOK-21"],
    changeSignature((value) => [Buffer.from(value, "hex").toString("base64")]),
  ],
  ["a signature of something else", signature, ["HOOK-21"], changeSignature((value) => [reverseText(value)])],
  ["a signature cut off", signature, ["HOOK-21"], changeSignature((value) => [value.slice(0, 40)])],
  ["two signatures", signature, ["HOOK-21"], changeSignature((value) => [value, reverseText(value)])],
  ["a body that is no JSON", "the body", ["HOOK-1"], (each) => withDeliveryText(each, "plain words")],
  ["a body in a list", "the body", ["HOOK-1"], (each) => withDeliveryText(each, `[${bodyTextOf(each)}]`)],
  ["a body cut off", "the body", ["HOOK-1"], (each) => withDeliveryText(each, bodyTextOf(each).slice(0, -3))],
  ["another sender", "the address", ["HOOK-44"], (each) => ({ ...each, peer: "127.0.0.9" })],
  ["another published sender", "the address", [], (each) => ({ ...each, peer: "127.0.0.3" })],
  [
    "names of headers in lower case",
    "headers",
    [],
    (each) =>
      withHeaders(
        each,
        each.request.headers.map(([name, value]) => [name.toLowerCase(), value]),
      ),
  ],
  [
    "unknown headers",
    "headers",
    [],
    (each) => withHeaders(each, [["X-Conformance-More", "7"], ...each.request.headers]),
  ],
];

export function deliveryMutants(delivery: Delivery, { deliveries }: CleanRun): Mutant[] {
  const place = deliveryPlaceOf(delivery);
  const { id } = delivery;
  const plain = deliveryOperators.flatMap(([operator, subject, expects, change]): Mutant[] => {
    const changed = change(delivery);
    return changed === null
      ? []
      : [mutantOf(operator, { place, subject, id }, expects, () => replacingDeliveries(changed))];
  });
  return [...plain, ...attemptMutants(delivery, deliveries, place)];
}

const schedule = ["HOOK-22", "HOOK-23", "HOOK-24", "HOOK-25", "HOOK-26", "HOOK-27", "HOOK-28"] as const;

function attemptMutants(delivery: Delivery, deliveries: readonly Delivery[], place: string): Mutant[] {
  const before = deliveries.find(({ hook, attempt }) => hook === failingWebhook && attempt === delivery.attempt - 1);
  const isLast = delivery.attempt === deliveryPolicy.maxAttempts;
  if (delivery.hook !== failingWebhook || before === undefined || delivery.attempt > deliveryPolicy.maxAttempts)
    return [];
  const waitedMs = delivery.clockMs + delivery.receivedMs - before.clockMs - before.receivedMs;
  const where = { place, subject: `attempt ${delivery.attempt}`, id: delivery.id };
  const delayed = (operator: string, byMs: number): Mutant =>
    mutantOf(operator, where, schedule, () =>
      replacingDeliveries({
        ...delivery,
        clockMs: delivery.clockMs + byMs,
        clockAtMostMs: delivery.clockAtMostMs + byMs,
      }),
    );
  return [
    // Delays only the last attempt. A delay of an earlier attempt would also shorten the wait before the next attempt.
    ...(isLast ? [delayed("an attempt late by half of its wait", waitedMs / 2)] : []),
    ...(waitedMs > 30_000 ? [delayed("an attempt early by half of its wait", -waitedMs / 2)] : []),
    mutantOf("an attempt left out", where, schedule, () => withoutDelivery(delivery)),
  ];
}
