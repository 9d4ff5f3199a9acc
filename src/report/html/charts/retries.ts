import { getPath } from "../../../base/json.ts";
import { parseBoundedJson } from "../../../base/parsing.ts";
import { type Delivery, wasAccepted } from "../../../evidence/delivery.ts";
import { deliveryPolicy } from "../../../spec/events-and-errors.ts";
import type { Scale } from "../svg/axes.ts";
import { type TimelineMark, renderTimeline, type TimelineRow } from "../svg/timeline.ts";
import { formatCount } from "../../../base/text.ts";
import type { Html } from "../markup.ts";
import { formatClock } from "./limits.ts";

/** A delivery attempt. It came between `from` and `to`, in seconds after the first attempt of the same event. */
interface DeliveryAttempt {
  readonly from: number;
  readonly to: number;
  readonly delivery: Delivery;
}

interface RetriedEvent {
  readonly hook: string;
  readonly attempts: readonly DeliveryAttempt[];
}

const maxListedAddresses = 7;

export function retryChart(deliveries: readonly Delivery[]): Html | null {
  const all = retriedEventsOf(deliveries);
  if (all.length === 0) return null;
  const shown = all.slice(0, maxListedAddresses);
  const [busiest] = all;
  const rows = [
    plannedRow("planned, counted from the previous attempt", delaysFromPrevious),
    plannedRow("planned, counted from the first attempt", delaysFromFirst),
    ...shown.map(retriedEventRow),
  ];
  return renderTimeline({
    title: "Retries of failed deliveries",
    says: `${formatCount(all.length, "address")} of the harness failed on purpose, and ${all.length === 1 ? "was" : "were"} tried again. ${busiest === undefined ? "" : `${busiest.hook} was tried ${busiest.attempts.length} times.`} A bar before a mark: the clock jumped, and the attempt came at some time within the bar.`.replace(
      "addresss",
      "addresses",
    ),
    x: { label: "after the first attempt, not to scale", format: formatClock, scale: logarithmicScaleFor(rows) },
    rows,
    legend: [
      { name: "planned", tone: "quiet", sign: "ring" },
      { name: "attempt that failed", tone: "bad", sign: "cross" },
      { name: "attempt that was accepted", tone: "good", sign: "dot" },
    ],
    table: {
      head: ["address", "attempt", "after", "planned, previous", "planned, first", "what the harness did"],
      rows: shown.flatMap(attemptTableRows),
    },
  });
}

const delaysFromFirst = deliveryPolicy.retryDelaysMs.map((delay) => delay / 1000);
const delaysFromPrevious = delaysFromFirst.map((_, at) =>
  delaysFromFirst.slice(0, at + 1).reduce((sum, delay) => sum + delay, 0),
);

function retriedEventsOf(deliveries: readonly Delivery[]): RetriedEvent[] {
  return [...Map.groupBy(deliveries, ({ hook }) => hook)]
    .flatMap(([hook, members]): RetriedEvent[] => {
      const [first] = members;
      if (first === undefined || wasAccepted(first)) return [];
      const same = members.filter((each) => eventIdentityOf(each) === eventIdentityOf(first));
      return same.length < 2 ? [] : [{ hook, attempts: same.map((delivery) => attemptOf(delivery, first)) }];
    })
    .toSorted((one, other) => other.attempts.length - one.attempts.length);
}

/** Returns a key for the event of a delivery: the event's id, or the whole body if the body has no id. */
function eventIdentityOf({ request: { body } }: Delivery): string {
  if (body.kind !== "text") return JSON.stringify(body);
  const id = getPath(parseBoundedJson(body.text), "id");
  return typeof id === "string" ? `id ${id}` : body.text;
}

function attemptOf(delivery: Delivery, first: Delivery): DeliveryAttempt {
  const elapsed = (delivery.receivedMs - first.receivedMs) / 1000;
  const clockJumped = delivery.clockAtMostMs !== first.clockMs;
  const from = clockJumped ? Math.max(0, (delivery.clockMs - first.clockAtMostMs) / 1000) : elapsed;
  const to = delivery === first ? 0 : Math.max(from, (delivery.clockAtMostMs - first.clockMs) / 1000 + elapsed);
  return { from: delivery === first ? 0 : from, to, delivery };
}

const plannedRow = (name: string, seconds: readonly number[]): TimelineRow => ({
  name,
  line: { from: 0, to: seconds.at(-1) ?? 0 },
  marks: seconds.map((each): TimelineMark => ({ from: each, to: each, tone: "quiet", sign: "ring" })),
});

const retriedEventRow = ({ hook, attempts }: RetriedEvent): TimelineRow => ({
  name: `${hook}: ${attempts.length} attempts`,
  line: { from: 0, to: attempts.at(-1)?.to ?? 0 },
  marks: attempts.map(({ from, to, delivery }): TimelineMark =>
    wasAccepted(delivery) ? { from, to, tone: "good", sign: "dot" } : { from, to, tone: "bad", sign: "cross" },
  ),
});

const attemptTableRows = ({ hook, attempts }: RetriedEvent): (string | number)[][] =>
  attempts.map(({ from, to, delivery }, at) => [
    hook,
    at + 1,
    to - from > 1 ? `${formatClock(from)} to ${formatClock(to)}` : formatClock(Math.round(to)),
    at < delaysFromPrevious.length ? formatClock(delaysFromPrevious[at] ?? 0) : "no more",
    at < delaysFromFirst.length ? formatClock(delaysFromFirst[at] ?? 0) : "no more",
    formatReply(delivery),
  ]);

function formatReply({ reply }: Delivery): string {
  switch (reply.kind) {
    case "answered":
      return `answered ${reply.status}`;
    case "endless":
      return `answered ${reply.status} without an end`;
    case "held":
      return "had not answered yet";
    case "silent":
      return "did not answer";
    case "reset":
      return "reset the connection";
  }
}

/** Up to about this many seconds, the time axis is nearly linear, because a logarithmic axis cannot show 0. */
const linearSeconds = 20;

/** Returns a logarithmic scale for the time axis, so that both a minute and two hours are visible. */
function logarithmicScaleFor(rows: readonly TimelineRow[]): Scale {
  const last = rows.flatMap(({ marks }) => marks.map(({ to }) => to)).reduce((high, to) => Math.max(high, to), 60);
  const at = (seconds: number): number =>
    Math.log1p(Math.max(0, seconds) / linearSeconds) / Math.log1p(last / linearSeconds);
  return { at, ticks: delaysFromFirst.filter((tick) => tick <= last) };
}
