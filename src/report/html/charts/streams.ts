import { median, quantile } from "../../../base/statistics/samples.ts";
import type { Answered, Exchange } from "../../../evidence/exchange.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";
import { renderLineChart, type ChartSeries } from "../svg/line-chart.ts";
import { linearScale } from "../svg/axes.ts";
import { type TimelineMark, renderTimeline } from "../svg/timeline.ts";
import { formatCount } from "../../../base/text.ts";
import type { Html } from "../markup.ts";
import { formatMs } from "./latency.ts";

interface ChartedStream {
  readonly name: string;
  readonly sentMs: number;
  readonly answer: Answered;
}

const maxListedStreams = 8;

/**
 * Draws up to eight streams with their events. If streams of an agent begin and end alike, e.g. with `start` and
 * `done`, draws only the first of them.
 */
export function streamChart(exchanges: readonly Exchange[]): Html | null {
  const all = exchanges.flatMap(chartedStreams);
  if (all.length === 0) return null;
  const kinds = [...Map.groupBy(all, streamKey).values()].flatMap(([first]) => first ?? []);
  const shown = kinds.slice(0, maxListedStreams);
  const firsts = all.map(timeToFirstEvent);
  const last = shown.reduce((high, { sentMs, answer }) => Math.max(high, answer.endMs - sentMs), 1);
  return renderTimeline({
    title: "Streams, event by event",
    says: `${formatCount(all.length, "stream")}; the first event came after ${formatMs(median(firsts))} in half of them, after ${formatMs(quantile(firsts, 1))} at most. One stream of each agent and course is shown.`,
    x: {
      label: "time since the request was sent",
      format: (value) => `${Number(value.toPrecision(4))} ms`,
      scale: linearScale(0, last, 6),
    },
    rows: shown.map(({ name, sentMs, answer }) => ({
      name: `${name}: ${formatCount(answer.events.length, "event")}`,
      line: { from: 0, to: answer.endMs - sentMs },
      marks: thinChunkMarks(
        answer.events.map(({ name: event, atMs }) => ({ from: atMs - sentMs, to: atMs - sentMs, ...markStyle(event) })),
      ),
    })),
    legend: [
      { name: "start", tone: "first", sign: "dot" },
      { name: "chunk", tone: "quiet", sign: "tick" },
      { name: "done", tone: "good", sign: "dot" },
      { name: "error, or another name", tone: "bad", sign: "cross" },
    ],
    table: {
      head: ["stream", "events", "first event after", "longest gap", "ended after", "how"],
      rows: shown.map(streamTableRow),
    },
  });
}

function chartedStreams({ id, key, request, sentMs, answer }: Exchange): ChartedStream[] {
  if (answer.kind !== "answered" || answer.events.length === 0) return [];
  const agent = /\/agents\/([^/?]+)\//.exec(request.url)?.[1] ?? "stream";
  return [{ name: `${agent}, ${id}${key === null ? "" : `, key ${key}`}`, sentMs, answer }];
}

const streamKey = ({ name, answer }: ChartedStream): string =>
  JSON.stringify([name.replace(/,.*/s, ""), answer.ending.kind, answer.events.at(-1)?.name, answer.events[0]?.name]);

const timeToFirstEvent = ({ sentMs, answer }: ChartedStream): number => (answer.events[0]?.atMs ?? sentMs) - sentMs;

function markStyle(event: string | null): Pick<TimelineMark, "tone" | "sign"> {
  if (event === "start") return { tone: "first", sign: "dot" };
  if (event === "chunk") return { tone: "quiet", sign: "tick" };
  return event === "done" ? { tone: "good", sign: "dot" } : { tone: "bad", sign: "cross" };
}

const maxStreamMarks = 80;

function thinChunkMarks(marks: readonly TimelineMark[]): TimelineMark[] {
  const every = Math.ceil(marks.length / maxStreamMarks);
  return marks.filter(({ sign }, at) => sign !== "tick" || at % every === 0);
}

function streamTableRow(stream: ChartedStream): (string | number)[] {
  const { name, sentMs, answer } = stream;
  const gaps = answer.events.slice(1).map(({ atMs }, at) => atMs - (answer.events[at]?.atMs ?? atMs));
  const longest = gaps.reduce((high, gap) => Math.max(high, gap), 0);
  return [
    name,
    answer.events.length,
    formatMs(timeToFirstEvent(stream)),
    formatMs(longest),
    formatMs(answer.endMs - sentMs),
    answer.ending.kind,
  ];
}

export function loadStreamChart({ streams, startedAt }: LoadEvidence, title: string): Html | null {
  if (streams.length === 0) return null;
  const startMs = Math.min(Date.parse(startedAt) || Infinity, streams[0]?.sentMs ?? Infinity);
  const seconds = (sentMs: number): number => (sentMs - startMs) / 1000;
  const every = Math.ceil(streams.length / 400);
  const shown = streams.filter(({ ending }, at) => at % every === 0 || ending === "cut");
  const dots = (wanted: "whole" | "left" | "cut"): ChartSeries["points"] =>
    shown.flatMap(({ ending, sentMs, firstEventMs }) =>
      ending === wanted && firstEventMs !== null ? [{ x: seconds(sentMs), y: firstEventMs - sentMs }] : [],
    );
  const series = (
    [
      { name: "ended by itself", tone: "first", shape: "dots", points: dots("whole") },
      { name: "closed by the client", tone: "third", shape: "dots", points: dots("left") },
      { name: "broken off", tone: "bad", shape: "crosses", points: dots("cut") },
    ] as const satisfies readonly ChartSeries[]
  ).filter(({ points }) => points.length > 0);
  const countOf = (wanted: "whole" | "left" | "cut"): number =>
    streams.filter(({ ending }) => ending === wanted).length;
  const [whole, left, cut] = [countOf("whole"), countOf("left"), countOf("cut")];
  const without = streams.filter(({ firstEventMs }) => firstEventMs === null).length;
  return renderLineChart({
    title,
    says: `${formatCount(streams.length, "stream")}: ${whole} ended by themselves, ${left} were closed by the client, ${cut} broke off${without > 0 ? `; ${without} had no event` : ""}.`,
    x: { label: "opened, seconds since the load began", format: (value) => `${value} s` },
    y: { label: "time to the first event", format: (value) => `${value} ms` },
    series,
    table: {
      head: ["streams", "count"],
      rows: [
        ["ended by themselves", whole],
        ["closed by the client", left],
        ["broken off", cut],
        ["without any event", without],
      ],
    },
  });
}
