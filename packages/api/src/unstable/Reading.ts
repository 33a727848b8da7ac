/** The parts of `Results.download` with which a source of an upload reads a URL by ranges. */
export { type Job, range } from "../internal/results/download.ts"
export {
  difference,
  type Part,
  read,
  type Representation,
  sizeOfUnsatisfied
} from "../internal/results/representation.ts"
export { unexpected } from "./Exchange.ts"
export { pullBody, type Refused, type Resource, send, type Subject } from "../internal/results/request.ts"
