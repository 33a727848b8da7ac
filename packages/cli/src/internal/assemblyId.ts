import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Argument from "effect/cli/Argument"

/** An argument for the id of an Assembly. */
export const assemblyId = Argument.String("assemblyId").pipe(
  Argument.withDescription("The id of the Assembly"),
  Argument.withSchema(Assembly.AssemblyId)
)

/** An argument for the ids of one or more Assemblies. */
export const assemblyIds = Argument.String("assemblyIds").pipe(
  Argument.withDescription("The ids of the Assemblies"),
  Argument.withSchema(Assembly.AssemblyId),
  Argument.variadic({ min: 1 })
)
