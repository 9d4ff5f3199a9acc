import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { probe } from "../../run/probe.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { ensureAllowance, hello } from "./exhaust.ts";
import { usageField } from "../../rules/limits/usage-report.ts";
import { isSuccess, member } from "../shared/response.ts";
import { reportedTokens } from "../shared/tokens.ts";

/** One invoke, and how many of the month's tokens the key had used when it was sent, by its own accounting. */
export interface QuotaCall {
  readonly usedBefore: number;
  readonly exchange: Exchange;
}

export interface QuotaExhausted {
  /** Readings of usage: before the first turn, after each that did not tell its tokens, and after the last. */
  readonly readings: readonly Exchange[];
  /** Tokens a month of the key; `null` where neither its tier nor its usage tells. */
  readonly quota: number | null;
  readonly turns: readonly QuotaCall[];
}

const mostTurns = 12;
/** So many turns are sent once the accounting has reached the quota. */
const mostBeyond = 2;

/** Nothing waits for a refusal's `retry_after` here: for tokens it is the time to the next month. */
const unpaced = { unpaced: true } as const;

export const quotaExhausted = probe(
  "the month's tokens of a key are used up",
  { needs: ["keys.nearQuota", "agents.answering"], requests: 0, lane: "limits" },
  async (scene): Promise<QuotaExhausted> => {
    const { client, given, target, time, recorder } = scene;
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

/** A number of the usage report's `tokens`; `null` where it is not there. */
export function tokensIn(reading: Exchange, name: "used" | "limit"): number | null {
  const value = member(usageField(bodyJson(reading), "tokens"), name);
  return isSuccess(reading) && typeof value === "number" ? value : null;
}
