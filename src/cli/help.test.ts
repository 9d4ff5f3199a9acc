import type { Command } from "commander";
import { describe, expect, it } from "vitest";

import { conformanceProgram, mostUsedOptions } from "./program.ts";

/** A command by its full name, with its options and its help text. */
interface Helped {
  readonly name: string;
  readonly options: readonly (string | undefined)[];
  readonly text: string;
}

function helpOf(command: Command, name: string): Helped[] {
  let text = "";
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  const options = command.options.map(({ long }) => long ?? undefined);
  return [{ name, options, text }, ...command.commands.flatMap((below) => helpOf(below, `${name} ${below.name()}`))];
}

describe("--help", async () => {
  const [top, ...commands] = helpOf(await conformanceProgram(() => true), "conformance");

  it("lists every command, with what it does", () => {
    const names = commands.map(({ name }) => name.split(" ")[1] ?? "");
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) expect(top?.text).toMatch(new RegExp(`^  ${name} +[A-Z]`, "m"));
  });

  const optionsIn = (text: string): string[] => text.match(/^ {2}(-\w, )?--[a-z0-9-]+/gm) ?? [];

  it.each([
    ["run", ["Target:", "What is judged:", "Bounds:", "Result:", "Help:"]],
    ["plan", ["Target:", "What is judged:", "Bounds:", "Result:", "Help:"]],
    ["load", ["Target:", "Load:", "Bounds:", "Result:", "Help:"]],
    ["nightly", ["Target:", "What is judged:", "Load:", "Bounds:", "Result:", "Help:"]],
    ["vendors", ["What is judged:", "Load:", "Bounds:", "Result:", "Help:"]],
    ["watch", ["Target:", "Result:", "Help:"]],
    ["serve", ["Server:", "Result:", "Help:"]],
    ["proxy", ["Target:", "Server:", "Bounds:", "Result:", "Help:"]],
    ["client", ["Client:", "What is judged:", "Bounds:", "Result:", "Help:"]],
    ["receiver", ["Deliveries:", "Result:", "Help:"]],
    ["judge", ["Target:", "Result:", "Help:"]],
    ["report", ["Result:", "Help:"]],
    ["init", ["Target:", "Result:", "Help:"]],
  ])("%s: shows the options that are used most, in groups, and all with --help-all", async (name, groups) => {
    const program = await conformanceProgram((each) => each === name);
    const command = program.commands.find((each) => each.name() === name);
    const textOf = async (flag: string): Promise<string> => {
      let text = "";
      command?.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 100 });
      await expect(program.parseAsync([name, flag], { from: "user" })).rejects.toMatchObject({ exitCode: 0 });
      return text;
    };
    const shown = await textOf("--help");
    const isGroup = (line: string): boolean => groups.includes(line) || line === "More options:";
    expect(shown.split("\n").filter(isGroup)).toEqual(groups);
    expect(optionsIn(shown).length).toBeLessThan(22);
    const all = await textOf("--help-all");
    expect(all.split("\n").filter(isGroup)).toEqual([...groups.slice(0, -1), "More options:", "Help:"]);
    expect(optionsIn(all).length).toBe((command?.options.filter(({ hidden }) => !hidden).length ?? 0) + 1);
  });

  it("groups every command of fifteen options or more, and no option that none has", async () => {
    const program = await conformanceProgram(() => true);
    const own = program.commands.flatMap((command) => command.options.map(({ long }) => [command.name(), long]));
    const names = new Set(own.flatMap(([command, long]) => [long, `${command} ${long}`]));
    for (const option of Object.values(mostUsedOptions).flat()) expect(names, option).toContain(option);
    for (const command of program.commands.filter(({ options }) => options.length >= 15))
      expect(command.options.map(({ long }) => long)).toContain("--help-all");
  });

  it.each(commands.map((each): [string, Helped] => [each.name, each]))(
    "%s: has examples that use it, and flags that it has",
    (name, { text, options }) => {
      const [, examples = ""] = text.split(/^Examples:$/m);
      const own = examples.split("\n").filter((line) => new RegExp(`\\b${name}\\b`).test(line));
      expect(own.length, text).toBeGreaterThan(0);
      const flags = own.flatMap((line) => (line.split("|")[0] ?? "").match(/--[a-z][a-z-]*/g) ?? []);
      for (const flag of flags) expect(options).toContain(flag);
      expect(text).not.toContain("default: []");
    },
  );
});
