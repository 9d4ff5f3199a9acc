/** Whether a status means success, 200 to 299. `null` means no response. */
export const is2xx = (status: number | null): status is number => status !== null && status >= 200 && status < 300;
