/** The query if its content does not matter. It is short, to cost few tokens. */
export const defaultQuery = "Hello. Please answer in a few words.";
