/** Whether a status says success, 200 to 299; `null`, no answer, does not. */
export const is2xx = (status: number | null): status is number => status !== null && status >= 200 && status < 300;
