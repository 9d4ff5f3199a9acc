import { once } from "node:events";
import { PassThrough } from "node:stream";

import { describe, expect, it } from "vitest";

import { line, UsageError } from "../../base/line.ts";
import { Interrupted, openPrompter, type Prompter } from "./dialog.ts";

interface Talk {
  readonly prompter: Prompter;
  readonly type: (text: string) => void;
  readonly interrupt: () => void;
  readonly end: () => void;
  readonly shown: () => string;
  /** Resolves when the terminal has shown text that matches the pattern. */
  readonly shows: (pattern: RegExp) => Promise<void>;
}

function startTalk(isTerminal: boolean): Talk {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const controller = new AbortController();
  let shown = "";
  output.on("data", (chunk: Buffer) => (shown += chunk.toString()));
  const prompter = openPrompter({
    input,
    output,
    isTerminal,
    signal: controller.signal,
    onInterrupt: () => controller.abort(),
  });
  return {
    prompter,
    type: (text) => void input.write(text),
    interrupt: () => controller.abort(),
    end: () => void input.end(),
    shown: () => shown,
    shows: async (pattern) => {
      while (!pattern.test(shown)) await once(output, "data");
    },
  };
}

const even = (answer: string): number => {
  if (Number(answer) % 2 === 0) return Number(answer);
  throw new UsageError(line`${answer} is not even.`);
};

describe.each([{ isTerminal: false }, { isTerminal: true }])("asking (terminal: $isTerminal)", ({ isTerminal }) => {
  it("asks a bad answer again, with what is wrong, until it can be used", async () => {
    const { prompter, type, shows, shown } = startTalk(isTerminal);
    const answer = prompter.ask({ text: "A number", fallback: null, read: even });
    type("three\n");
    await shows(/three is not even\./);
    type("\n");
    await shows(/An answer is needed\./);
    type("4\n");
    expect(await answer).toBe(4);
    expect(shown().match(/A number: /g)?.length).toBeGreaterThanOrEqual(3);
    prompter.close();
  });

  it("takes the fallback, which it shows, for an empty answer", async () => {
    const { prompter, type, shown } = startTalk(isTerminal);
    const answer = prompter.ask({ text: "File", fallback: "target.json", read: String });
    type("\n");
    expect(await answer).toBe("target.json");
    expect(shown()).toContain("File [target.json]: ");
    prompter.close();
  });

  it("ends where the input ends", async () => {
    const { prompter, end } = startTalk(isTerminal);
    const answer = prompter.ask({ text: "File", fallback: null, read: String });
    end();
    await expect(answer).rejects.toThrow(/The input ended/);
  });

  it("ends on a signal", async () => {
    const { prompter, interrupt } = startTalk(isTerminal);
    const answer = prompter.ask({ text: "File", fallback: null, read: String });
    interrupt();
    await expect(answer).rejects.toThrow(Interrupted);
    prompter.close();
  });
});

describe("asking on a terminal", () => {
  it("shows nothing of a hidden answer, and asks in the open again afterwards", async () => {
    const { prompter, type, shown } = startTalk(true);
    const hidden = prompter.ask({ text: "Key", fallback: null, read: String, isHidden: true });
    type("pk_secret-4471\r");
    expect(await hidden).toBe("pk_secret-4471");
    const open = prompter.ask({ text: "File", fallback: null, read: String });
    type("acme.json\r");
    expect(await open).toBe("acme.json");
    expect(shown()).toContain("Key: ");
    expect(shown()).toContain("acme.json");
    expect(shown()).not.toContain("pk_secret");
    prompter.close();
  });

  it("takes Ctrl-C, which comes as a key, for an interruption", async () => {
    const { prompter, type } = startTalk(true);
    const answer = prompter.ask({ text: "File", fallback: null, read: String });
    type("\u0003");
    await expect(answer).rejects.toThrow(Interrupted);
    prompter.close();
  });
});
