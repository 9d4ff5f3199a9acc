// Finds names with discouraged words, e.g. `abreast`, and comments that start like `What …` (see CONTRIBUTING.md).
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Discouraged words, which had a private meaning in this project. Each value lists common words to use instead. */
const privateWords = new Map([
  ["abreast", "concurrent, parallel"],
  ["asked", "requested, options"],
  ["attend", "wait, handle"],
  ["beside", "next to, alongside"],
  ["came", "received"],
  ["concern", "affect, cover"],
  ["ground", "environment, setup"],
  ["greeting", "ping, start message"],
  ["lack", "missing, skip reason"],
  ["least", "min"],
  ["look", "discovery, check"],
  ["looked", "examined"],
  ["made", "created, derived"],
  ["moved", "advanced, offset"],
  ["nearer", "closest"],
  ["patience", "timeout policy"],
  ["played", "assigned"],
  ["player", "role assignment"],
  ["quieted", "idle"],
  ["said", "reported, result"],
  ["seen", "observed, coverage"],
  ["sound", "correct, valid"],
  ["spoilt", "mutated, altered"],
  ["spoken", "accepted, reported"],
  ["stays", "keeps, remains"],
  ["stranger", "unauthenticated, third-party"],
  ["strangers", "unauthenticated, third-party"],
  ["surroundings", "environment"],
  ["tell", "report"],
  ["told", "reported"],
  ["twins", "sibling, duplicate"],
  ["unsaid", "unspecified"],
  ["unsent", "not sent"],
  ["visit", "coverage request"],
  ["visits", "coverage requests"],
  ["wish", "request, options"],
  ["wording", "messages"],
]);

/** Names that are allowed to contain a word of `privateWords`. For example, `reqsMade` is a name of autocannon. */
const keptNames = new Set(
  "seen told said lost lostShare asked look looked made came strangers afterStrangers saidSeconds atLeastSeconds reqsMade atLeast lookup lookUp LookUp lookUps mapLookUp".split(
    " ",
  ),
);

const vagueOpening =
  /^(What|Of (a|an|the|each|all|one|what)|So (many|much|long|few|often)|That|Where|Whoever|Such|Nothing|Nobody|But|Than|As (long|many|much)|How (much|many|often|long|far) (of|it|they|is|are|was)|For (what|whom))\b/;

const wordsOf = (name) => name.split(/[-_$]|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());

/**
 * Finds words of `privateWords` in the name of a file and in the names that the file declares.
 *
 * @param {string} file path
 * @param {string} text content
 * @returns {string[]} one message for each discouraged name
 */
export function discouragedNamesIn(file, text) {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").replace(/(["'`])(?:\\.|(?!\1)[^\\])*\1/g, "");
  const declared = [...code.matchAll(/\b(?:const|let|function|class|interface|type|readonly)\s+([A-Za-z_$][\w$]*)/g)];
  const names = new Set([basename(file).replace(/\..*/, ""), ...declared.map(([, name]) => name)]);
  return [...names].flatMap((name) => {
    const word = keptNames.has(name) ? undefined : wordsOf(name).find((each) => privateWords.has(each));
    return word === undefined ? [] : [`${file}: the name ${name}: instead of "${word}" use ${privateWords.get(word)}`];
  });
}

/**
 * Finds comments with a vague opening, such as `What …`, `Nothing …` or `So many …`, which does not name a thing.
 *
 * @param {string} file
 * @param {string} text
 * @returns {string[]} a line for each comment
 */
export function vagueOpeningsIn(file, text) {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    const isFurtherLine = /^\s*\/\/ /.test(line) && /^\s*\/\/ /.test(lines[at - 1] ?? "");
    const opening = /^\s*(?:\/\/|\/\*\*?)\s+(.+)/.exec(line);
    const first = opening?.[1] ?? (/^\s*\/\*\*?$/.test(line) ? (lines[at + 1] ?? "").replace(/^\s*\*\s?/, "") : "");
    return !isFurtherLine && vagueOpening.test(first)
      ? [`${file}:${at + 1}: begin the comment with a thing or a verb: ${first}`]
      : [];
  });
}

const folders = ["src", "scenarios", "k6", "bench", "tools", "bin"];
const isSource = (name) => /\.(ts|mjs|js)$/.test(name);

function sourcesIn(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : sourcesIn(root, path);
    return isSource(entry.name) ? [path] : [];
  });
}

/**
 * Finds discouraged names and comments in the source files.
 *
 * @param {string} root of the checkout
 * @returns {string[]} a line for each finding
 */
export function findingsIn(root) {
  return folders
    .flatMap((folder) => sourcesIn(root, folder))
    .filter((file) => basename(file) !== "words.mjs" && basename(file) !== "words.test.ts")
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return [...discouragedNamesIn(file, text), ...vagueOpeningsIn(file, text)];
    });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const found = findingsIn(root);
  for (const line of found) process.stdout.write(`${line}\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
