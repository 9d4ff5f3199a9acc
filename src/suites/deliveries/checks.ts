import { oncePer, oncePerPair } from "../../base/once-per.ts";
import { type Delivery, deliveryHeader, deliveryJson, isSignedRight } from "../../evidence/delivery.ts";
import { deploymentEvents, type WebhookEvent, webhookEvents } from "../../interface/events.ts";
import { type Check, check, observe, suite } from "../../run/check.ts";
import { breach, type Finding, holds, observed, unproven } from "../../run/finding.ts";
import { type Member, universal } from "../../run/universal.ts";
import { universeOf } from "../answers/universes.ts";
import { otherUnit } from "../answers/durations.ts";
import { everything } from "../answers/recorded.ts";
import { longestTurnMs } from "./longest-turn.ts";
import { belowZero, wrongField } from "../../bodies/fields.ts";
import { thereOrNot } from "../answers/fields.ts";
import {
  type Delivered,
  delivered,
  type EndedBadly,
  failingHooked,
  failingStreamHook,
  timingOutHooked,
} from "./probes.ts";
import { retryChecks } from "./retried.ts";
import { hookOf } from "./retries.ts";
import { eventsOfType, eventTypeOf } from "./event.ts";
import { idsDiffer } from "./event-ids.ts";
import { judgeAgentNamed, judgeCreatedThen } from "./event-facts.ts";
import { excusedSilence, isPublished, turnedAway, unreadable, withoutGreetings } from "./silence.ts";
import { deploymentChecks } from "./deployment-events.ts";
import { hasStatus, isSuccess, member, outcomeOf, show } from "../answers/shape.ts";
import { isObject } from "../../base/json.ts";
import { hasZone, isTimestamp } from "../../bodies/timestamps.ts";
import { cameTo } from "../webhooks/calls.ts";
import { hooked, type Hooked } from "../webhooks/probes.ts";

/** What webhooks got of an agent that was invoked, and all that came to webhooks later. */
const told = { sent: hooked, all: delivered };
interface Told {
  readonly sent: Hooked;
  readonly all: Delivered;
}

const noDelivery = () => unproven("no delivery came; see HOOK-8");

/** Judges the rows that a clause states, on every delivery of the run. */
const field = (clause: "HOOK-1" | "HOOK-2" | "HOOK-3" | "HOOK-4" | "HOOK-5" | "HOOK-6"): Check =>
  universal(clause, told, {
    universe: universeOf("delivery"),
    noun: "deliveries",
    members: ({ all }) => withoutGreetings(all.deliveries).filter(isKept).map(deliverySeen),
    say: (body) => wrongField("delivery", clause, body),
    none: noDelivery,
    agree: (bodies) => thereOrNot("delivery", clause, bodies),
  });

/** Of `agent.completed`, its data; that seconds are seconds shows by the requests of the run. */
const completedData = universal(
  "HOOK-17",
  { ...told, everything },
  {
    universe: universeOf("completed"),
    noun: "deliveries",
    members: ({ all, everything: seen }) =>
      eventsOfType(all.deliveries, "agent.completed").map((delivery) => ({
        ...deliverySeen(delivery),
        subject: completedIn(delivery, longestTurnMs(seen, delivery)),
      })),
    say: ({ body, tookMs }) =>
      wrongField("completed", "HOOK-17", body) ??
      otherUnit("data.execution_time", member(body, "data", "execution_time"), tookMs),
    none: unproven("no `agent.completed` came"),
  },
);

const completedIn = oncePerPair((delivery: Delivery, tookMs: number) => ({ body: deliveryJson(delivery), tookMs }));

/** Whether a body was kept whole, so that it can be judged. */
const isKept = ({ request }: Delivery): boolean => request.body.kind !== "cut";

const deliverySeen = oncePer((delivery: Delivery): Member<unknown> => ({
  cell: { of: "deliveries received", kind: typeText(eventTypeOf(delivery)) },
  proof: delivery,
  subject: deliveryJson(delivery),
}));

const typeText = (type: unknown): string => (isPublished(type) ? type : "other");

/** Judges whether the webhooks of an agent that was invoked were told of it, once for each time. */
const invokeTold =
  (event: "agent.invoked" | "agent.completed") =>
  ({ sent, all }: Told): Finding<never> => {
    const { wildcard, both, completed } = sent.webhooks;
    const asked =
      event === "agent.completed" ? [wildcard, both, completed].filter((each) => each !== null) : [wildcard, both];
    const expected = sent.invoked.filter(isSuccess).length;
    if (expected === 0) return unproven(`the agent did not answer (${sent.invoked.map(outcomeOf).join(", ")})`);
    const counts = asked.map(({ hook }) => eventsOfType(cameTo(sent.deliveries, hook), event).length);
    const most = Math.max(...counts);
    if (most >= expected) return holds();
    const unable = excusedSilence(sent.reach, all, asked) ?? unreadable(all.deliveries);
    if (unable !== null) return unable;
    const what = most === 0 ? "none came" : `${most} came`;
    return breach(`\`${event}\` for each of ${expected} invokes`, what, ...sent.invoked);
  };

interface Ended {
  readonly ended: EndedBadly;
  readonly all: Delivered;
}

/** Judges whether webhooks were told how an execution ended. */
const endTold = ({ ended, all }: Ended): Finding<never> => {
  const { invoked, event, deliveries, named, wildcard, reach } = ended;
  if (eventsOfType(deliveries, event).length > 0) return holds();
  if (invoked.answer.kind === "answered" && !hasStatus(invoked, 408, 500, 502, 503, 504))
    return unproven(`the execution did not end so (${outcomeOf(invoked)})`);
  const unable = excusedSilence(reach, all, [named, wildcard]) ?? unreadable(deliveries);
  if (unable !== null) return unable;
  const types = deliveries.map((each) => show(eventTypeOf(each)));
  return breach(`\`${event}\``, types.length === 0 ? "no delivery came" : `only ${types.join(", ")}`, invoked);
};

/** Judges whether `agent.*` selected what a webhook got that named the event. */
function isSelected(event: WebhookEvent, named: readonly Delivery[], byWildcard: readonly Delivery[]): Finding<never> {
  const [known] = eventsOfType(named, event);
  if (known === undefined) return unproven(`no webhook that names \`${event}\` got one`);
  return eventsOfType(byWildcard, event).length > 0
    ? holds()
    : breach(`\`${event}\` to a webhook of \`agent.*\` also`, `only to the one that names it`, known);
}

const selectedAtEnd = ({ ended: { event, named, wildcard, deliveries }, all }: Ended): Finding<never> =>
  isSuccess(wildcard.exchange)
    ? (turnedAway(all, [wildcard]) ??
      isSelected(event, cameTo(deliveries, named.hook), cameTo(deliveries, wildcard.hook)))
    : unproven(`no webhook of \`agent.*\` was created (${outcomeOf(wildcard.exchange)})`);

const signatureHeader = "X-Service-Signature";

/** Headers that any request has, or that the document names. */
const plainHeaders =
  /^(host|connection|keep-alive|content-(type|length|encoding)|transfer-encoding|accept.*|user-agent|date|x-service-signature|x-forwarded-.*|forwarded|via)$/i;

const more = { ended: failingHooked, all: delivered };
const isOfStreams = (delivery: Delivery): boolean =>
  ["STREAM_ERROR", "CAPACITY_ERROR"].some((code) => code === member(deliveryJson(delivery), "data", "error", "code"));
const timedOut = { ended: timingOutHooked, all: delivered };

export const deliveries = suite("Webhook deliveries", [
  field("HOOK-1"),
  field("HOOK-2"),
  field("HOOK-3"),
  universal("HOOK-39", told, {
    universe: universeOf("delivery"),
    noun: "deliveries",
    members: ({ all }) => withoutGreetings(all.deliveries).map(deliverySeen),
    say: (body) => {
      const created = member(body, "created");
      if (typeof created !== "string" || !isTimestamp(created)) return undefined;
      return hasZone(created) ? null : { expected: "`created`, a timestamp with its zone: `Z`", actual: show(created) };
    },
    none: noDelivery,
  }),
  field("HOOK-4"),
  field("HOOK-5"),
  field("HOOK-6"),
  idsDiffer,
  check("HOOK-36", hooked, judgeAgentNamed),
  check("HOOK-37", hooked, judgeCreatedThen),
  check("HOOK-7", told, invokeTold("agent.invoked")),
  check("HOOK-8", told, invokeTold("agent.completed")),
  // Begun early: on a real clock the retries come while the probes of the other checks take their time.
  ...retryChecks,
  check("HOOK-9", more, endTold),
  check("HOOK-10", timedOut, endTold),
  check("HOOK-15", told, ({ sent, all }) => {
    const named = [sent.webhooks.both, sent.webhooks.completed, sent.webhooks.unsigned, sent.webhooks.deployments];
    const asked = named.filter((each) => each !== null).filter(({ exchange }) => isSuccess(exchange));
    for (const { hook, events } of asked) {
      const foreign = cameTo(all.deliveries, hook).find((each) => {
        const type = eventTypeOf(each);
        return isPublished(type) && !events.includes(type);
      });
      if (foreign !== undefined)
        return breach(`only ${events.join(", ")}, as subscribed`, show(eventTypeOf(foreign)), foreign);
    }
    for (const { hook, events, exchange } of asked)
      for (const event of events) {
        const [known] = eventsOfType(sent.deliveries, event);
        const isMissing = known !== undefined && eventsOfType(cameTo(sent.deliveries, hook), event).length === 0;
        if (isMissing && turnedAway(all, [{ hook }]) === null)
          return breach(`\`${event}\` to each webhook that subscribed to it`, "only to another", known, exchange);
      }
    return sent.deliveries.some((each) => isPublished(eventTypeOf(each))) ? holds() : noDelivery();
  }),
  check("HOOK-16", told, ({ sent: { webhooks, deliveries: came }, all }) => {
    if (!isSuccess(webhooks.wildcard.exchange))
      return unproven(`no webhook of \`agent.*\` was created (${outcomeOf(webhooks.wildcard.exchange)})`);
    const away = turnedAway(all, [webhooks.wildcard]);
    if (away !== null) return away;
    const [named, byWildcard] = [cameTo(came, webhooks.both.hook), cameTo(came, webhooks.wildcard.hook)];
    const invoked = isSelected("agent.invoked", named, byWildcard);
    return invoked.kind === "holds" ? isSelected("agent.completed", named, byWildcard) : invoked;
  }),
  check("HOOK-16", more, selectedAtEnd, { as: "agent.failed" }),
  check("HOOK-16", timedOut, selectedAtEnd, { as: "agent.timeout" }),
  completedData,
  universal("HOOK-41", told, {
    universe: universeOf("completed"),
    noun: "deliveries",
    members: ({ all }) => eventsOfType(all.deliveries, "agent.completed").map(deliverySeen),
    say: (body) => belowZero("completed", body),
    none: unproven("no `agent.completed` came with an `execution_time`"),
  }),
  universal("HOOK-18", more, {
    universe: universeOf("failed"),
    noun: "deliveries",
    members: ({ all }) => eventsOfType(all.deliveries, "agent.failed").map(deliverySeen),
    say: (body) => wrongField("failed", "HOOK-18", body),
    none: unproven("no `agent.failed` came"),
  }),
  observe("HOOK-19", told, ({ all }) => {
    const types = webhookEvents.filter((type) => type !== "agent.completed" && type !== "agent.failed");
    const shown = types.flatMap((type) => {
      const [first] = eventsOfType(all.deliveries, type);
      const data = first === undefined ? undefined : member(deliveryJson(first), "data");
      return isObject(data) ? [`${type}: ${Object.keys(data).join(", ")}`] : [];
    });
    return shown.length === 0 ? unproven("none of these events came") : observed(shown.join("; "));
  }),
  universal("HOOK-20", more, {
    universe: universeOf("failed"),
    noun: "deliveries",
    // What fails in a stream has codes of its own there.
    members: ({ all, ended: { hearsStreams } }) =>
      eventsOfType(all.deliveries, "agent.failed")
        .filter((each) => each.hook !== failingStreamHook && !(hearsStreams && isOfStreams(each)))
        .map(deliverySeen),
    say: (body) => {
      const code = member(body, "data", "error", "code");
      if (typeof code !== "string") return undefined;
      return code === "EXECUTION_ERROR" ? null : { expected: "`code` is EXECUTION_ERROR", actual: show(code) };
    },
    none: unproven("no `agent.failed` came with a code; see HOOK-18"),
  }),
  check("HOOK-21", told, ({ all }) => {
    // That one was told another secret on purpose.
    const signed = withoutGreetings(all.deliveries).filter(
      ({ computedSignature, hook }) => computedSignature !== null && hook !== hookOf("mismatched"),
    );
    const wrong = signed.find((delivery) => !isSignedRight(delivery));
    if (wrong !== undefined) {
      const values = deliveryHeader(wrong, signatureHeader);
      return breach(
        `\`${signatureHeader}: ${wrong.computedSignature}\``,
        values.length === 0 ? "no such header" : values.map(show).join(", "),
        wrong,
      );
    }
    return signed.length > 0 ? holds() : noDelivery();
  }),
  observe("HOOK-31", told, ({ all: { deliveries: came } }) => {
    if (came.length === 0) return noDelivery();
    const names = new Set(came.flatMap(({ request }) => request.headers.map(([name]) => name)));
    const own = [...names].filter((name) => !plainHeaders.test(name));
    return observed(own.length === 0 ? "no such header" : own.join(", "));
  }),
  observe("HOOK-34", told, ({ sent: { webhooks, deliveries: came } }) => {
    const { unsigned } = webhooks;
    if (unsigned === null) return unproven("the key has too few requests for a webhook without a secret");
    if (!isSuccess(unsigned.exchange)) return observed(`such a webhook is refused: ${outcomeOf(unsigned.exchange)}`);
    const [first] = cameTo(came, unsigned.hook);
    if (first === undefined) return unproven("no delivery came to a webhook without a secret");
    const values = deliveryHeader(first, signatureHeader);
    return observed(values.length === 0 ? `no \`${signatureHeader}\`` : `\`${signatureHeader}\` all the same`);
  }),
  ...deploymentChecks,
  check(
    "HOOK-16",
    told,
    ({ all }) => {
      const isOfDeployment = (each: Delivery): boolean => deploymentEvents.some((event) => event === eventTypeOf(each));
      const found = all.deliveries.filter(isOfDeployment);
      const foreign = found.find(({ hook }) => hook.endsWith("wildcard"));
      if (foreign !== undefined)
        return breach("no deployment event to a webhook of `agent.*`", show(eventTypeOf(foreign)), foreign);
      return found.length > 0
        ? holds()
        : unproven("no deployment event was sent", '`triggers` in the target file, such as "deployment.updated"');
    },
    { as: "no deployment event" },
  ),
]);
