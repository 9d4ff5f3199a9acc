/** Ids of clauses about what this server does not have yet: webhooks, deliveries, alerts, key usage, operations, batches, other endpoints. */
export const absentSections = /^(WHK|DLV|HOOK|ALR|OPS|BAT|OTH|CFG)-|^KEY-(9|1\d)$/;
