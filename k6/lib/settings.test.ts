import { describe, expect, it } from "vitest";

import { publishedTiers } from "../../src/spec/tiers.ts";
import { readSettings } from "./settings.ts";

const base = { BASE_URL: "https://agents.example/v1", API_KEY: "one" };

describe("the settings of a script", () => {
  it.each([
    "https://agents.example",
    "https://agents.example/",
    "https://agents.example/v1",
    "https://agents.example/v1/",
  ])("take the base address with and without its version: %s", (url) => {
    expect(readSettings({ ...base, BASE_URL: url }).baseUrl).toBe("https://agents.example/v1");
  });

  it("default to the free tier and the agent echo", () => {
    const settings = readSettings(base);

    expect(settings).toMatchObject({ tier: "free", limits: publishedTiers.free, speed: 1, isRecording: false });
    expect(settings.key("main")).toBe("one");
    expect(settings.agent("answering")).toBe("echo");
    expect(readSettings({ ...base, AGENT: "poet" }).agent("streaming")).toBe("poet");
  });

  it("take limits of a custom tier", () => {
    const limits = '{"perHour":9,"perMinute":8,"concurrent":7,"burst":6}';

    expect(readSettings({ ...base, TIER: "enterprise", LIMITS: limits }).limits).toStrictEqual({
      perHour: 9,
      perMinute: 8,
      concurrent: 7,
      burst: 6,
      tokensPerMonth: null,
    });
  });

  it.each([
    { environment: { API_KEY: "one" }, message: /BASE_URL is not set/ },
    { environment: { ...base, BASE_URL: "agents.example" }, message: /BASE_URL is no URL/ },
    { environment: { ...base, TIER: "gold" }, message: /TIER is "gold": give one of free, pro/ },
    { environment: { ...base, TIER: "enterprise" }, message: /-e LIMITS=/ },
    { environment: { ...base, LIMITS: "{" }, message: /LIMITS is no JSON/ },
    { environment: { ...base, SPEED: "fast" }, message: /SPEED is "fast"/ },
  ])("that cannot be are refused: $message", ({ environment, message }) => {
    expect(() => readSettings(environment)).toThrow(message);
  });

  it.each([".", ".."])("refuse the agent %s, which no URL can name", (agent) => {
    expect(() => readSettings({ ...base, AGENT: agent }).agent("streaming")).toThrow(/taken out of every URL/);
    expect(() => readSettings({ ...base, AGENT_SLOW: agent }).agent("slow")).toThrow(/taken out of every URL/);
  });

  it.each([
    {
      what: "second key",
      use: (settings: ReturnType<typeof readSettings>) => settings.key("second"),
      message: /-e API_KEY_SECOND=/,
    },
    {
      what: "slow agent",
      use: (settings: ReturnType<typeof readSettings>) => settings.agent("slow"),
      message: /-e AGENT_SLOW=/,
    },
  ])("name the variable of a $what that is missing", ({ use, message }) => {
    expect(() => use(readSettings(base))).toThrow(message);
  });
});
