/** Whether a status says success, 200 to 299; a request without an answer has none. */
export const is2xx = (status: number | null): status is number => status !== null && status >= 200 && status < 300;
