import type { Say } from "../../app/vendors/judge-vendor.ts";
import { displayWidth, padded } from "../../base/display-width.ts";
import { harmlessLine } from "../../base/harmless.ts";

/** Gives each vendor lines of its own, which begin with its name; nothing where it is quiet. */
export function progressOf(names: readonly string[], isQuiet: boolean): (name: string) => Say {
  const width = Math.max(...names.map((name) => displayWidth(harmlessLine(name, 30))));
  return (name) => (text) => {
    if (!isQuiet) process.stderr.write(`${padded(harmlessLine(name, 30), width)}  ${harmlessLine(text, 240)}\n`);
  };
}
