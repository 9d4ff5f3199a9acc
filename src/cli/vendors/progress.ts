import type { Say } from "../../app/vendors/judge-vendor.ts";
import { harmlessLine } from "../../base/harmless.ts";

/** Gives each vendor lines of its own, which begin with its name; nothing where it is quiet. */
export function progressOf(names: readonly string[], isQuiet: boolean): (name: string) => Say {
  const width = Math.max(...names.map((name) => harmlessLine(name, 30).length));
  return (name) => (text) => {
    if (!isQuiet) process.stderr.write(`${harmlessLine(name, 30).padEnd(width)}  ${harmlessLine(text, 240)}\n`);
  };
}
