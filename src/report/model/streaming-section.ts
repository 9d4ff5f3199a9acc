import { formatNumber } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import type { Report } from "./report.ts";
import { cell, type Section, textColumns } from "./section.ts";
import { type AgentStreaming, formatRate } from "./streaming.ts";
import { outside, own } from "./text.ts";

/** Maximum number of agents in the table. */
const maxAgents = 8;

/** The table of streaming quality, by agent. */
export function streamingSection({ streaming = [] }: Pick<Report, "streaming">): Section {
  return {
    name: "streaming",
    title: "Streaming quality",
    lead: own("Figures, which no clause judges: median, 99th percentile and longest. Times include the network."),
    blocks:
      streaming.length === 0
        ? []
        : [
            {
              kind: "table",
              name: "Streaming quality",
              columns: [
                ...textColumns("streams of", "streams", "first content, ms", "gap, ms", "a second"),
                { head: "at once", align: "left", dropRank: 1 },
              ],
              rows: streaming
                .slice(0, maxAgents)
                .map((each) => [
                  cell(outside(each.agent, 40)),
                  cell(own(formatNumber(each.streams))),
                  cell(own(formatSpread(each.firstContentMs))),
                  cell(own(each.gapMs === null ? "" : formatSpread(each.gapMs))),
                  cell(own(formatRate(each) ?? "")),
                  cell(own(each.lumps === 0 ? "" : formatCount(each.lumps, "stream"))),
                ]),
            },
          ],
  };
}

const formatSpread = ({ p50, p99, max }: NonNullable<AgentStreaming["gapMs"]>): string =>
  [p50, p99, max].map((each) => formatNumber(Math.round(each))).join(", ");
