import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { probe } from "../../run/probe.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { ensureAllowance, hello } from "./exhaust.ts";
import { usageField } from "../../rules/limits/usage-report.ts";
import { isSuccess, reportedTokens } from "../shared/response.ts";
import { getPath } from "../../base/json.ts";

/** An invoke, with the month's tokens that the target had reported as used before it. */
export interface QuotaCall {
  readonly usedBefore: number;
  readonly exchange: Exchange;
}

export interface QuotaExhausted {
  /** Reads of usage: before the first invoke, after each invoke that did not report its tokens, and after the last. */
  readonly readings: readonly Exchange[];
  /** Monthly token quota of the key; `null` if neither its tier nor its usage report states it. */
  readonly quota: number | null;
  readonly turns: readonly QuotaCall[];
}

const mostTurns = 12;
/** Number of invokes after the quota was reached. */
const mostBeyond = 2;

/** The requests do not wait for `retry_after`: for tokens, it is the time to the next month. */
const unpaced = { unpaced: true } as const;

export const quotaExhausted = probe(
  "the month's tokens of a key are used up",
  { needs: ["keys.nearQuota", "agents.answering"], requests: 0, stage: "limits" },
  async (context): Promise<QuotaExhausted> => {
    const { client, given, target, time, recorder } = context;
    const key = given["keys.nearQuota"];
    const own = client.as(key);
    const limits = limitsOf(key, target);
    const room = { time, recorder, perMinute: limits?.perMinute ?? publishedTiers.free.perMinute };
    const readings: Exchange[] = [];
    const read = async (): Promise<Exchange> => {
      await ensureAllowance(own, 1, room);
      const reading = await own.send("GET", "/usage", unpaced);
      readings.push(reading);
      return reading;
    };
    const first = await read();
    const quota = key.tokensPerMonth ?? limits?.tokensPerMonth ?? tokensIn(first, "limit");
    let used = tokensIn(first, "used") ?? 0;
    const turns: QuotaCall[] = [];
    for (let beyond = 0; quota !== null && beyond < mostBeyond && turns.length < mostTurns;) {
      if (used >= quota) beyond += 1;
      await ensureAllowance(own, 1, room);
      const exchange = await own.invoke(given["agents.answering"], hello, unpaced);
      turns.push({ usedBefore: used, exchange });
      if (!isSuccess(exchange) && (statusOf(exchange) ?? 0) < 500) break;
      const told = reportedTokens(exchange);
      used = told === null ? (tokensIn(await read(), "used") ?? used) : used + told;
    }
    if (turns.length > 0) await read();
    return { readings, quota, turns };
  },
);

/** A number in the usage report's `tokens`; `null` if absent. */
export function tokensIn(reading: Exchange, name: "used" | "limit"): number | null {
  const value = getPath(usageField(bodyJson(reading), "tokens"), name);
  return isSuccess(reading) && typeof value === "number" ? value : null;
}
