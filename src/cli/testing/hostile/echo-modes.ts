import { keyWritings } from "../../../evidence/testing/traces.ts";
import {
  chunks,
  event,
  headed,
  invoked,
  isList,
  isRun,
  type Modes,
  named,
  type ReceivedRequest,
  reply,
  streamed,
} from "./target.ts";

const latin = (text: string): string => Buffer.from(text.replaceAll(/[^\t\x20-\x7e]/g, "")).toString("latin1");
const sentKey = ({ authorization }: ReceivedRequest): string => authorization.replace(/^\S+ ?/, "");
const pieces = (key: string, length: number): string[] => key.match(new RegExp(`.{1,${length}}`, "g")) ?? [];

/** Responses that contain the client's key, in each encoding and in each part of a response. */
export const echoes: Modes = {
  ...named(
    Object.entries(keyWritings).map(([how, write]) => [`echoes the key ${how}`, write]),
    (write) =>
      reply((friendly, request, key) => ({
        ...friendly,
        headers: [...friendly.headers, ["x-echo", latin(write(sentKey(request) || key))]],
        body: friendly.body.startsWith("{")
          ? JSON.stringify({
              ...(JSON.parse(friendly.body) as object),
              echo: write(key),
              sent: write(sentKey(request)),
              [write(key)]: 1,
            })
          : friendly.body.replaceAll("hello", JSON.stringify(write(key)).slice(1, -1)),
      })),
  ),
  ...named(
    Object.entries(keyWritings).map(([how, write]) => [`says the key ${how} in text that is no JSON`, write]),
    (write) => reply((friendly, request, key) => (isRun(request) ? { ...friendly, body: write(key) } : friendly)),
  ),
  "echoes the key as an error's code": reply((friendly, request) => ({
    ...friendly,
    status: 400,
    body: JSON.stringify({ error: { code: sentKey(request), message: request.authorization, status: 400 } }),
  })),
  "echoes the key in header names": headed((key) => [
    [`x-${Buffer.from(key).toString("hex")}`, "1"],
    [key.replaceAll(/[^\w-]/g, ""), "2"],
  ]),
  "echoes the key as an agent": reply((friendly, request, key) =>
    isList(request)
      ? { ...friendly, body: JSON.stringify({ data: [{ id: key }, { id: "echo", name: key }], pagination: {} }) }
      : friendly,
  ),
  "echoes the key as a webhook's id": reply((friendly, request, key) =>
    request.path === "/webhooks"
      ? { ...friendly, body: JSON.stringify({ webhook_id: key, secret: `whsec_${key}` }) }
      : friendly,
  ),
  "streams the key in two": streamed((key) => chunks(pieces(key, Math.ceil(key.length / 2)))),
  "streams the key in fours": streamed((key) => chunks(pieces(key, 4))),
  "streams the key letter by letter": streamed((key) => chunks(pieces(key, 1))),
  "streams the key as names of events": streamed((key) => pieces(key, 5).map((name) => event(name, {}))),
  "streams the key as data that are no JSON": streamed((key) => pieces(key, 5).map((piece) => `data: ${piece}\n\n`)),
  "sends the key in gzip": reply((friendly, request, key) =>
    isRun(request) ? { ...friendly, headers: [["content-encoding", "gzip"]], body: key } : friendly,
  ),
  "sends 200 kB of keys": invoked((key) => JSON.stringify({ result: key.repeat(6000) })),
  "sends 600 kB of keys": invoked((key) => key.repeat(20_000)),
};
