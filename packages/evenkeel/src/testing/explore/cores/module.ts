/**
 * The program and the scenario that a module exports.
 *
 * `FILE` exports `controllers` and `scenario`. `FILE#name` names one export: an object that has both, or the
 * controllers alone, for the `scenario` of the module.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ExploreOptions } from '../explore.ts'

/** What is explored. */
type Subject = Pick<ExploreOptions, 'controllers' | 'scenario'>

/** A file and the name of an export in it. */
interface ModulePlace {
  readonly path: string
  readonly name: string | undefined
}

/** @param module a path, from the working folder, or a file: URL; `#name` at its end */
export function placeOfModule(module: string | URL): ModulePlace {
  const text = String(module)
  const at = text.lastIndexOf('#')
  const [file, name] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
  return { path: file.startsWith('file:') ? fileURLToPath(file) : resolve(file), name }
}

/** @throws {RangeError} when there is no such module, or nothing to explore in it; the message says what is missing. */
export async function loadSubject(module: string | URL): Promise<Subject> {
  const { path, name } = placeOfModule(module)
  if (!existsSync(path)) throw new RangeError(`there is no module ${path}`)
  const exported = await load(path)
  const chosen = name === undefined ? (exported['default'] ?? exported) : exported[name]
  if (name !== undefined && chosen === undefined)
    throw new RangeError(`${path} exports no ${name}: it exports ${Object.keys(exported).join(', ') || 'nothing'}`)
  if (isSubject(chosen)) return chosen
  const subject = { controllers: name === undefined ? exported['controllers'] : chosen, scenario: exported['scenario'] }
  if (isSubject(subject)) return subject
  throw new RangeError(
    `there is nothing to explore in ${path}: it must export controllers and scenario, or an object with both that is named as ${path.slice(path.lastIndexOf('/') + 1)}#name`,
  )
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    throw new RangeError(
      `the module ${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

function isSubject(value: unknown): value is Subject {
  if (typeof value !== 'object' || value === null) return false
  const { controllers, scenario } = value as Partial<Subject>
  return (
    (typeof controllers === 'function' || Array.isArray(controllers)) &&
    typeof scenario === 'object' &&
    Array.isArray((scenario as Partial<Subject['scenario']>).steps)
  )
}
