import { expect } from "vitest";

/** Returns the lines of a Markdown text that are outside fenced code blocks. Throws if a block does not end. */
export function linesOutsideFences(markdown: string): string[] {
  let fence = "";
  const outside: string[] = [];
  for (const line of markdown.split("\n")) {
    const [run = ""] = /^`{3,}/.exec(line) ?? [];
    if (fence === "" && run !== "") fence = run;
    else if (fence !== "" && line === fence) fence = "";
    else if (fence === "") outside.push(line);
  }
  expect(fence).toBe("");
  return outside;
}

/** Expects that lines contain no markup except the tags that the renderer writes. */
export function expectHarmless(lines: readonly string[]): void {
  for (const line of lines) {
    const rest = line
      .replace(/<\/?(?:code|details|summary|b|sub)>|<!-- -->|&#\d+;/g, "")
      .replace(/\*\*(\d+ failed|nonconformant)\*\*/g, "");
    expect(rest).not.toMatch(/[<>&[\]`*_@$~{}\\]/);
    expect(rest).not.toMatch(/https?:|www\.|[^\n]#\d/);
  }
}

export const countTableCells = (line: string): number => line.split("|").length;
