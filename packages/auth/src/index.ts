export * as Authenticator from "./Authenticator.ts"
export * as Credentials from "./Credentials.ts"
export * as Signer from "./Signer.ts"
export * as Transport from "./Transport.ts"
