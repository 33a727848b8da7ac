export * as LeaseHolder from "./LeaseHolder.ts"
export * as RuntimeClient from "./RuntimeClient.ts"
export * as UndiciClient from "./UndiciClient.ts"
