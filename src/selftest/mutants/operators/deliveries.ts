import type { Delivery } from "../../../evidence/delivery.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { deliveryPolicy } from "../../../spec/events.ts";
import { headerNames } from "../../../spec/headers.ts";
import { changedHeaders, headerOf } from "../edits.ts";
import { inPlaceOfDeliveries, type Mutant, type MutantKind, withoutDelivery } from "../mutant.ts";
import { placeOf, withDeliveryText } from "../messages.ts";
import type { CleanRun } from "../clean-run.ts";

/** One delivery of each type: the first to its address or not, signed or not, a first attempt or a later one; and every attempt at a receiver that always fails. */
export function deliveriesToMutate({ deliveries }: CleanRun): Delivery[] {
  const known = new Set<string>();
  return deliveries.filter((delivery) => {
    const isLater = delivery.attempt > 1 && delivery.reply.kind !== "answered";
    const cell =
      delivery.hook === failingHook
        ? `${failingHook} ${delivery.attempt}`
        : [placeOf(delivery), delivery.computedSignature === null, isLater].join(" ");
    if (!delivery.hook.startsWith("webhook-") || known.has(cell)) return false;
    known.add(cell);
    return true;
  });
}

/** Address of the receiver that fails whatever it gets. */
export const failingHook = "webhook-failing";

interface DeliveryOperator {
  readonly operator: string;
  readonly subject: string;
  readonly kind?: MutantKind;
  readonly expects: readonly ClauseId[];
  /** `null` where there is nothing to change. */
  readonly change: (delivery: Delivery) => Delivery | null;
}

const signature = headerNames.deliverySignature;

const signed =
  (change: (value: string) => readonly string[]) =>
  (delivery: Delivery): Delivery | null =>
    headerOf(delivery.request.headers, signature) === null || delivery.computedSignature === null
      ? null
      : withHeaders(delivery, changedHeaders(delivery.request.headers, signature, change));

const withHeaders = (delivery: Delivery, headers: Delivery["request"]["headers"]): Delivery => ({
  ...delivery,
  request: { ...delivery.request, headers },
});

/** Of hexadecimal digits. */
const reversed = (digits: string): string => digits.split("").toReversed().join("");

const textOf = ({ request: { body } }: Delivery): string => (body.kind === "text" ? body.text : "");

const operators: readonly DeliveryOperator[] = [
  { operator: "a signature left out", subject: signature, expects: ["HOOK-21"], change: signed(() => []) },
  {
    operator: "a signature in capitals",
    subject: signature,
    expects: ["HOOK-21"],
    change: signed((value) => [value.toUpperCase()]),
  },
  {
    operator: "a signature with its method",
    subject: signature,
    expects: ["HOOK-21"],
    change: signed((value) => [`sha256=${value}`]),
  },
  {
    operator: "a signature in Base64",
    subject: signature,
    expects: ["HOOK-21"],
    change: signed((value) => [Buffer.from(value, "hex").toString("base64")]),
  },
  {
    operator: "a signature of something else",
    subject: signature,
    expects: ["HOOK-21"],
    change: signed((value) => [reversed(value)]),
  },
  {
    operator: "a signature cut off",
    subject: signature,
    expects: ["HOOK-21"],
    change: signed((value) => [value.slice(0, 40)]),
  },
  {
    operator: "two signatures",
    subject: signature,
    expects: ["HOOK-21"],
    change: signed((value) => [value, reversed(value)]),
  },
  {
    operator: "a body that is no JSON",
    subject: "the body",
    expects: ["HOOK-1"],
    change: (each) => withDeliveryText(each, "plain words"),
  },
  {
    operator: "a body in a list",
    subject: "the body",
    expects: ["HOOK-1"],
    change: (each) => withDeliveryText(each, `[${textOf(each)}]`),
  },
  {
    operator: "a body cut off",
    subject: "the body",
    expects: ["HOOK-1"],
    change: (each) => withDeliveryText(each, textOf(each).slice(0, -3)),
  },
  {
    operator: "names of headers in lower case",
    subject: "headers",
    kind: "legal",
    expects: [],
    change: (each) =>
      withHeaders(
        each,
        each.request.headers.map(([name, value]) => [name.toLowerCase(), value]),
      ),
  },
  {
    operator: "unknown headers",
    subject: "headers",
    kind: "legal",
    expects: [],
    change: (each) => withHeaders(each, [["X-Conformance-More", "7"], ...each.request.headers]),
  },
];

/** Every way to spoil a delivery besides the fields of its body. */
export function deliveryMutants(delivery: Delivery, { deliveries }: CleanRun): Mutant[] {
  const place = placeOf(delivery);
  const { id } = delivery;
  const plain = operators.flatMap(({ operator, subject, kind = "wrong", expects, change }): Mutant[] => {
    const changed = change(delivery);
    return changed === null
      ? []
      : [{ kind, operator, place, subject, id, expects, make: () => inPlaceOfDeliveries(changed) }];
  });
  return [...plain, ...attemptMutants(delivery, deliveries, place)];
}

const schedule = ["HOOK-22", "HOOK-23", "HOOK-24", "HOOK-25", "HOOK-26", "HOOK-27", "HOOK-28"] as const;

/** Attempts of the schedule at another time, or left out; only of what is tried again and again. */
function attemptMutants(delivery: Delivery, deliveries: readonly Delivery[], place: string): Mutant[] {
  const before = deliveries.find(({ hook, attempt }) => hook === failingHook && attempt === delivery.attempt - 1);
  const isLast = delivery.attempt === deliveryPolicy.maxAttempts;
  if (delivery.hook !== failingHook || before === undefined || delivery.attempt > deliveryPolicy.maxAttempts) return [];
  const waitedMs = delivery.clockMs + delivery.receivedMs - before.clockMs - before.receivedMs;
  const moved = (operator: string, byMs: number): Mutant => ({
    kind: "wrong",
    operator,
    place,
    subject: `attempt ${delivery.attempt}`,
    id: delivery.id,
    expects: schedule,
    make: () =>
      inPlaceOfDeliveries({
        ...delivery,
        clockMs: delivery.clockMs + byMs,
        clockAtMostMs: delivery.clockAtMostMs + byMs,
      }),
  });
  return [
    // Moved beyond it, another attempt would come out of its order.
    ...(isLast ? [moved("an attempt late by half of its wait", waitedMs / 2)] : []),
    ...(waitedMs > 30_000 ? [moved("an attempt early by half of its wait", -waitedMs / 2)] : []),
    { ...moved("an attempt left out", 0), make: () => withoutDelivery(delivery) },
  ];
}
