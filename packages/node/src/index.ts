export * as UndiciClient from "./UndiciClient.ts"
