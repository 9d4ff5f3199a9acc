import { jsonIn } from "../base/json.ts";
import type { Answered, Body, Exchange, StreamEvent } from "./exchange.ts";
import type { Secret } from "./secret.ts";

/** A secret this short is found by chance in the pieces of any text. */
const shortestSplit = 6;
const withheld = "[withheld: it held a secret, in pieces]";

/**
 * Takes a secret out of a stream whose events hold it in pieces, where no text has the whole of it: what was in such an event's
 * `data` is withheld, in the event and in the body.
 */
export function withholdSplitSecrets(answer: Answered, secrets: readonly Secret[]): Answered {
  const pieces = answer.events.map(({ data }) => contentOf(data));
  const tainted = taintedPieces(pieces, secrets);
  if (tainted.size === 0) return answer;
  const events = answer.events.map((event, index) => (tainted.has(index) ? withoutContent(event) : event));
  return {
    ...answer,
    events,
    body: withoutTexts(
      answer.body,
      [...tainted].map((index) => answer.events[index]?.data ?? ""),
    ),
  };
}

/** The larger pieces of secrets that streams have held, as secrets of their own: other texts may quote them. */
export function piecesOfSecrets(exchanges: readonly Exchange[], secrets: readonly Secret[]): Secret[] {
  return exchanges.flatMap(({ answer }) => {
    if (answer.kind !== "answered" || answer.events.length === 0) return [];
    const pieces = answer.events.map(({ data }) => contentOf(data));
    return [...taintedPieces(pieces, secrets)].flatMap((index) => {
      const value = pieces[index] ?? "";
      return value.length < shortestSplit ? [] : [{ name: "a piece of a key", value }];
    });
  });
}

/** Indexes of the pieces that a secret runs over, whose whole is in none of them. */
function taintedPieces(pieces: readonly string[], secrets: readonly Secret[]): Set<number> {
  const joined = pieces.join("").toLowerCase();
  const tainted = new Set<number>();
  for (const { value } of secrets) {
    if (value.length < shortestSplit) continue;
    const wanted = value.toLowerCase();
    for (let at = joined.indexOf(wanted); at !== -1; at = joined.indexOf(wanted, at + 1))
      for (const index of coveredBy(pieces, at, at + wanted.length)) tainted.add(index);
  }
  return tainted;
}

function coveredBy(pieces: readonly string[], from: number, to: number): number[] {
  let start = 0;
  return pieces.flatMap((piece, index) => {
    const end = start + piece.length;
    const isCovered = start < to && end > from && piece !== "";
    start = end;
    return isCovered ? [index] : [];
  });
}

const contentOf = (data: string): string => {
  const content = objectIn(data)?.["content"];
  return typeof content === "string" ? content : "";
};

/** The event without its `content`; its other fields stay, so that it can still be judged. */
const withoutContent = (event: StreamEvent): StreamEvent => ({
  ...event,
  data: JSON.stringify({ ...objectIn(event.data), content: withheld }),
});

function objectIn(data: string): Readonly<Record<string, unknown>> | null {
  const parsed = jsonIn(data);
  return typeof parsed === "object" && parsed !== null ? (parsed as Readonly<Record<string, unknown>>) : null;
}

/** The body without these texts; all of it is withheld where they do not stand in it as they are. */
function withoutTexts(body: Body, texts: readonly string[]): Body {
  if (body.kind === "none") return body;
  const { bytes } = body;
  if (body.kind !== "text" || !texts.every((text) => body.text.includes(text)))
    return { kind: "text", text: withheld, bytes };
  return { kind: "text", text: texts.reduce((left, text) => left.replaceAll(text, withheld), body.text), bytes };
}
