export * as LeaseHolder from "./LeaseHolder.ts"
export * as UndiciClient from "./UndiciClient.ts"
