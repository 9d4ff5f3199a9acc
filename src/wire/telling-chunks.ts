import type { Dispatcher } from "undici";

/** Sends in the same way, and tells of each chunk of a body as it came: whoever reads a body as a stream gets many of them at once. */
export const withChunkCounter = (dispatcher: Dispatcher, onChunk: () => void): Dispatcher =>
  dispatcher.compose((dispatch) => (options, handler) => {
    const take = handler.onResponseData?.bind(handler);
    handler.onResponseData = (controller, chunk) => {
      onChunk();
      take?.(controller, chunk);
    };
    return dispatch(options, handler);
  });
