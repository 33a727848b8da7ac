// A plugin of TypeDoc. It gives each module the name of its import and the group of its package. It also keeps the
// comment at the start of the file, which TypeDoc ignores without `@module`.
import { readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")

// The workspace does not install TypeDoc; main.ts installs it here.
const { Comment, CommentTag, ReflectionKind } =
  await import("../../node_modules/.cache/site/node_modules/typedoc/dist/index.js")

/** The comment at the start of a file. Its links are only names, because TypeDoc has not parsed it. */
const firstComment = (file) => {
  const [, text = ""] = /^\/\*\*((?:(?!\*\/)[^])*)\*\/\s*\n(?:import|export) /.exec(readFileSync(file, "utf8")) ?? []
  return text
    .replace(/^ *\* ?/gm, "")
    .replace(/\{@link ([^}|\s]+)[^}]*\}/g, "`$1`")
    .trim()
}

/** Shows a constant that is called, such as the result of `Effect.fnUntraced`, as the function that it is. */
const showAsFunction = (constant) => {
  const called = constant.type?.type === "reflection" ? constant.type.declaration : undefined
  if (called?.signatures === undefined || called.children !== undefined) return
  constant.kind = ReflectionKind.Function
  constant.signatures = called.signatures
  for (const signature of called.signatures) {
    signature.name = constant.name
    signature.parent = constant
    signature.comment ??= constant.comment?.clone()
  }
  delete constant.type
  delete constant.comment
  delete constant.defaultValue
}

/** Hides the expressions of which the base of an error or a service is made: its fields are members of the class anyway. */
const hideBase = (found) => {
  if (!found.extendedTypes?.every(({ type }) => type === "reference" && found.kind === ReflectionKind.Interface)) {
    delete found.extendedTypes
  }
  for (const member of found.children ?? []) {
    delete member.defaultValue
    for (const one of [member, member.getSignature, ...(member.signatures ?? [])]) {
      delete one?.overwrites
      delete one?.inheritedFrom
    }
  }
}

export const load = (app) => {
  app.converter.on("resolveBegin", (context) => {
    for (const constant of context.project.getReflectionsByKind(ReflectionKind.Variable)) showAsFunction(constant)
    for (const found of context.project.getReflectionsByKind(ReflectionKind.ClassOrInterface)) hideBase(found)
    for (const module of context.project.children ?? []) {
      const [, folder, name] = /^(?:packages\/)?([a-z]+)\/src\/(\w+)$/.exec(module.name) ?? []
      if (folder === undefined) throw new Error(`${module.name} is not a module of a package`)
      const group = `@assembly-effect/${folder}`
      const text = firstComment(join(root, "packages", folder, "src", `${name}.ts`))
      const shown = `${text}\n\n\`\`\`ts\nimport * as ${name} from "${group}/${name}"\n\`\`\`\n`
      module.name = `${folder}/${name}`
      module.comment = new Comment(
        [{ kind: "text", text: shown }],
        [new CommentTag("@group", [{ kind: "text", text: group }])]
      )
    }
  })
}
