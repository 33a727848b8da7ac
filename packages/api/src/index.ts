// This index does not export the following modules, because they load code that most programs do not need: `AuthKeys`,
// `Billing`, `Budget`, `Guard`, `Notifications`, `Queues`, `ResultError`, `Results`, `TemplateCredentials`, `Templates` and `testing`.
// Import each of these modules from its own path, such as "@assembly-effect/api/Templates".
export * as ApiError from "./ApiError.ts"
export * as Assemblies from "./Assemblies.ts"
export * as AssemblyClient from "./AssemblyClient.ts"
export * as Dam from "./Dam.ts"
export * as RetryPolicy from "./RetryPolicy.ts"
