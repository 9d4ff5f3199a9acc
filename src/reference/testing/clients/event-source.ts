import { EventSource } from "eventsource";

/** An event from a public client. */
export interface ClientEvent {
  readonly name: string;
  readonly data: unknown;
}

/**
 * Reads a stream with the package `eventsource`, as a user's program would. Sends a POST by way of the package's
 * `fetch` option. Closes at `done` or `error`, or after `count` events. Rejects if the connection fails.
 */
export function readWithEventSource(url: string, key: string, body: object, count = Infinity): Promise<ClientEvent[]> {
  return new Promise((resolve, reject) => {
    const events: ClientEvent[] = [];
    const source = new EventSource(url, {
      fetch: (input, init) =>
        fetch(input, {
          ...init,
          method: "POST",
          headers: { ...init.headers, authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
    });
    const take = (event: Event) => {
      if (!(event instanceof MessageEvent)) return;
      events.push({ name: event.type, data: JSON.parse(String(event.data)) });
      if (events.length < count && event.type !== "done" && event.type !== "error") return;
      source.close();
      resolve(events);
    };
    for (const name of ["start", "chunk", "done", "error"]) source.addEventListener(name, take);
    source.addEventListener("error", (event) => {
      // An error event of the package itself has no data. The server's event `error` has data.
      if (event instanceof MessageEvent) return;
      source.close();
      reject(new Error(`${url}: ${event.message ?? "the connection failed"}`));
    });
  });
}
