/** The limits and the quotas of the emulator in the context. */
import * as Context from "effect/Context"
import { defaults, type Settings } from "../Limits.ts"
import type * as Service from "../Quotas.ts"

export type Values = typeof Settings.Type

export const Limits = Context.Reference<Values>("@assembly-effect/emulator/Limits", { defaultValue: () => defaults })

export const Quotas = Context.Reference<typeof Service.Settings.Type | undefined>("@assembly-effect/emulator/Quotas", {
  defaultValue: () => undefined
})
