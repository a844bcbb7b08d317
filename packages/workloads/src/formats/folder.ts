/**
 * Where relative paths of objects begin: at the folder of the file that describes them, wherever the command runs.
 *
 *   examples/shop/app.ts   Process api, no cwd              cwd: examples/shop
 *                          Process api, cwd: programs       cwd: examples/shop/programs
 *                          Container, bind: ./pages         bind: examples/shop/pages
 *
 * The program of a Process, its `envFiles` and its `watch` are relative to its `cwd` already.
 *
 * Invariant: absolute paths, objects of other kinds, and fields that are not what their kind allows stay as they are: the server
 * refuses the latter.
 */
import { isAbsolute, join } from 'node:path'
import type { WorkloadObject } from './finding.ts'
import { workloadsVersion } from './shapes.ts'

type Fields = Readonly<Record<string, unknown>>

/** Where the fields of a program are in the spec of a kind. */
const programPlaces: Readonly<Record<string, readonly string[]>> = {
  Process: [],
  ProcessSet: ['template', 'spec'],
  Task: ['template', 'spec'],
  Schedule: ['template', 'spec', 'template', 'spec'],
}

/** The object with paths that begin where the command runs. */
export function inFolder(object: WorkloadObject, folder: string | undefined): WorkloadObject {
  if (folder === undefined || object.apiVersion !== workloadsVersion || !isFields(object.spec)) return object
  const place = programPlaces[object.kind]
  if (place) return { ...object, spec: changedAt(object.spec, place, (program) => withCwd(program, folder)) }
  return object.kind === 'Container' ? { ...object, spec: withPaths(object.spec, folder) } : object
}

/** A path of this machine, relative to a folder. A path of Windows is a mistake that is reported as it was written. */
export function pathIn(folder: string | undefined, path: string): string {
  return folder === undefined || isAbsolute(path) || /^[A-Za-z]:[\\/]/.test(path) ? path : join(folder, path)
}

function changedAt(fields: Fields, place: readonly string[], change: (fields: Fields) => Fields): Fields {
  const [name, ...rest] = place
  if (name === undefined) return change(fields)
  const inner = fields[name]
  return isFields(inner) ? { ...fields, [name]: changedAt(inner, rest, change) } : fields
}

function withCwd(program: Fields, folder: string): Fields {
  const { cwd = '.' } = program
  return typeof cwd === 'string' ? { ...program, cwd: pathIn(folder, cwd) } : program
}

function withPaths(spec: Fields, folder: string): Fields {
  const { build, envFiles, volumeMounts } = spec
  const moved = (name: string) => (fields: unknown) => {
    const path = isFields(fields) ? fields[name] : undefined
    return typeof path === 'string' ? { ...(fields as Fields), [name]: pathIn(folder, path) } : fields
  }
  return {
    ...spec,
    ...(build !== undefined && { build: moved('context')(build) }),
    ...(Array.isArray(envFiles) && { envFiles: envFiles.map(moved('path')) }),
    ...(Array.isArray(volumeMounts) && { volumeMounts: volumeMounts.map(moved('bind')) }),
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
