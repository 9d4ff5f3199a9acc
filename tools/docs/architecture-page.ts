import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = join(root, "docs", "architecture.md");
const drawing = /(<!-- folders and their imports -->\n)[^]*?(\n<!-- end -->)/;

type Imports = ReadonlyMap<string, ReadonlySet<string>>;

export const architecturePage = (): string =>
  readFileSync(page, "utf8").replace(drawing, (_, start: string, end: string) => {
    const imports = withoutIndirect(importsBetweenFolders());
    const arrows = [...imports].flatMap(([from, folders]) => [...folders].map((to) => `  ${from} --> ${to}`));
    return `${start}\n\`\`\`mermaid\nflowchart TD\n${arrows.join("\n")}\n\`\`\`\n${end}`;
  });

function importsBetweenFolders(): Imports {
  const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !/\.test\.ts$|\/testing\//.test(file));
  const imports = new Map<string, Set<string>>();
  for (const file of files.toSorted()) {
    const from = folderOf(file);
    for (const to of importedFiles(file).map(folderOf)) {
      if (to === from) continue;
      imports.set(from, (imports.get(from) ?? new Set()).add(to));
    }
  }
  return imports;
}

function importedFiles(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const paths = text.matchAll(/^(?:import|export)(?! type\b)[^;]*? from "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gms);
  return [...paths].map(([, fixed, lazy]) => join(dirname(file), fixed ?? lazy ?? ""));
}

function folderOf(file: string): string {
  const [top = "", folder = "", inner] = file.split("/");
  if (top !== "src") return top;
  return folder === "reference" && inner === "embedded" ? `${folder}/${inner}` : folder;
}

/** Removes an arrow from folder `a` to folder `c` if arrows through other folders also lead from `a` to `c`. */
function withoutIndirect(imports: Imports): Imports {
  const reaches = (from: string, to: string): boolean =>
    [...(imports.get(from) ?? [])].some((folder) => folder === to || reaches(folder, to));
  return new Map(
    [...imports].map(([from, folders]) => [
      from,
      new Set([...folders].filter((to) => ![...folders].some((other) => other !== to && reaches(other, to)))),
    ]),
  );
}
