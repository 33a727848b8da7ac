import * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ErrorLine from "../ErrorLine.ts"
import * as Format from "../Format.ts"
import * as LocalFile from "../LocalFile.ts"
import * as Output from "../Output.ts"
import * as Style from "../Style.ts"
import * as Table from "../Table.ts"
import * as UploadProgress from "../UploadProgress.ts"

const handle = { ":original": { robot: "/upload/handle" } }
const store = { ...handle, stored: { robot: "/transloadit/store", use: ":original" } }

interface Stored {
  readonly step: string
  readonly file: Assembly.File
}

/** What the Assembly has made, or what it received where no Step made anything. */
const filesOf = ({ results, uploads }: Assembly.Status): ReadonlyArray<Stored> => {
  const made = Object.entries(results ?? {}).flatMap(([step, files]) => files.map((file) => ({ step, file })))
  return made.length > 0 ? made : (uploads ?? []).map((file) => ({ step: ":original", file }))
}

const columns: ReadonlyArray<Table.Column<Stored>> = [
  { title: "Step", value: ({ step }) => step },
  { title: "File", value: ({ file }) => file.path ?? file.name ?? "" },
  {
    title: "Size",
    align: "right",
    value: ({ file }) => (typeof file.size === "number" ? Format.bytes(file.size) : "")
  },
  { title: "Asset", value: ({ file }) => file.asset_id ?? "", keep: true },
  { title: "SHA-256", value: ({ file }) => file.sha256 ?? "" }
]

const send = (target: UploadTarget.UploadTarget, { name, source }: LocalFile.LocalFile) =>
  UploadProgress.follow(Upload.events(target, source, { metadata: { filename: name, fieldname: "file" } }), {
    label: name
  })

/** How long the end of an Assembly is waited for that nobody will finish: a signal ends the program soon. */
const cancelTimeout = "700 millis"

/** Nothing comes to this Assembly any more, so it must not wait for ever. What went wrong is told besides. */
const giveUp = (assemblyId: Assembly.AssemblyId) =>
  Assemblies.cancel(assemblyId).pipe(
    Effect.timeout(cancelTimeout),
    Effect.matchEffect({
      onSuccess: ({ ok }) =>
        Output.error(
          ok === "ASSEMBLY_CANCELED"
            ? `the Assembly ${assemblyId} was canceled`
            : `the Assembly ${assemblyId} was over before it could be canceled`
        ),
      onFailure: (error) =>
        Output.error(`the Assembly ${assemblyId} may wait for its files for ever: ${ErrorLine.fromError(error)}`)
    })
  )

/** `assembly upload`: one Assembly for all files, each uploaded resumably. */
export const upload = Command.make(
  "upload",
  {
    paths: Argument.String("paths").pipe(
      Argument.withDescription("The files to upload"),
      Argument.variadic({ min: 1 })
    ),
    template: Flag.String("template").pipe(
      Flag.withDescription("The Template that processes the files; without one they are stored in the Workspace"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ paths, template }) {
    const files = yield* Effect.forEach(paths, LocalFile.open)
    const created = yield* Assemblies.create({
      ...Option.match(template, { onNone: () => ({ steps: store }), onSome: (templateId) => ({ templateId }) }),
      numExpectedUploadFiles: files.length
    })
    yield* Output.lines([`Assembly ${created.assembly_id}`])
    yield* Effect.flatMap(UploadTarget.fromAssembly(created), (target) =>
      Effect.forEach(files, (file) => send(target, file), { discard: true })
    ).pipe(Effect.onError(() => giveUp(created.assembly_id)))

    const status = yield* Assemblies.awaitCompletion(created.assembly_id, { interval: "100 millis" })
    yield* Output.report([Style.blank, ...Table.render(columns, filesOf(status), yield* Output.layout)])
  })
).pipe(
  Command.withDescription("Upload files into a new Assembly and wait for its results"),
  Command.withExamples([
    { command: "assembly upload video.mp4 cover.jpg", description: "Store two files in the Workspace" },
    { command: "assembly upload --template <id> video.mp4", description: "Process a file with a Template" }
  ])
)
