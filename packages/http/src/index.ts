export * as HandledNotifications from "./HandledNotifications.ts"
export * as Refusal from "./Refusal.ts"
export * as Signatures from "./Signatures.ts"
export * as Webhooks from "./Webhooks.ts"
