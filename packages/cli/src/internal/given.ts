import * as Option from "effect/Option"

type Given<Options extends Readonly<Record<string, Option.Option<unknown>>>> = {
  readonly [Name in keyof Options]?: Options[Name] extends Option.Option<infer Value> ? Value : never
}

/** The values of the flags that were given. A flag that was not given has no key. */
export const given = <Options extends Readonly<Record<string, Option.Option<unknown>>>>(
  options: Options
): Given<Options> =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, option]) => (Option.isSome(option) ? [[name, option.value]] : []))
  ) as Given<Options>
