/** What an agent is asked where it does not matter what: short, so that it costs a vendor few tokens. */
export const defaultQuery = "Hello. Please answer in a few words.";
