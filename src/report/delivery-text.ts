import type { Delivery } from "../evidence/delivery.ts";
import { type Bounds, type Line, mark, messageLines, standardBounds } from "./exchange-text.ts";
import { harmlessLine } from "../base/harmless.ts";
import { duration } from "../base/duration.ts";

/**
 * A delivery as the harness's receiver got it, a line of text each: `< ` before what came, `* ` before notes of our own, which
 * say when it came and what it was answered.
 */
export function deliveryLines(delivery: Delivery, bounds: Partial<Bounds> = {}): string[] {
  const { request } = delivery;
  const came: (Line | string)[] = [
    `${request.method} ${harmlessLine(request.url, 500)}`,
    ...messageLines(request.headers, request.body, { ...standardBounds, ...bounds }),
  ];
  return [`* ${arrivalOf(delivery)}`, ...came.map(mark("<")), `* ${replyOf(delivery)}`];
}

function arrivalOf({ hook, attempt, peer, receivedMs, clockMs }: Delivery): string {
  const moved = clockMs === 0 ? "" : `, with the target's clock moved by ${duration(clockMs)}`;
  return `request ${attempt} to the address \`${harmlessLine(hook, 60)}\`, from ${harmlessLine(peer, 60)}, ${duration(receivedMs)} into the run${moved}`;
}

function replyOf({ reply, receivedMs }: Delivery): string {
  const left = (leftMs: number | null): string =>
    leftMs === null ? "the sender kept waiting" : `the sender gave up after ${duration(leftMs - receivedMs)}`;
  switch (reply.kind) {
    case "answered":
      return `the harness answered ${reply.status} after ${duration(reply.endMs - receivedMs)}`;
    case "held":
      return "the harness had not answered yet";
    case "reset":
      return "the harness reset the connection on purpose";
    case "silent":
      return `the harness did not answer, on purpose; ${left(reply.leftMs)}`;
    case "endless":
      return `the harness answered ${reply.status} with a body that does not end, on purpose; ${left(reply.leftMs)}`;
  }
}
