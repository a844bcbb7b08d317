/**
 * The program and the scenario that a module exports.
 *
 * `FILE` exports `controllers` and `scenario`. `FILE#name` names one export: an object that has both, or the
 * controllers alone, for the `scenario` of the module.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { explore, type Explored, type ExploreOptions } from './explore.ts'

/** What is explored. */
type ExploreSubject = Pick<ExploreOptions, 'controllers' | 'scenario'>

/** A file and the name of an export in it. */
interface ModuleReference {
  readonly path: string
  readonly name: string | undefined
}

/** @param module a path, from the working folder, or a file: URL; `#name` at its end */
export function parseModuleReference(module: string | URL): ModuleReference {
  const text = String(module)
  const at = text.lastIndexOf('#')
  const [file, name] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
  return { path: file.startsWith('file:') ? fileURLToPath(file) : resolve(file), name }
}

/** @throws {RangeError} when there is no such module, or nothing to explore in it; the message says what is missing. */
export async function loadExploreSubject(module: string | URL): Promise<ExploreSubject> {
  const { path, name } = parseModuleReference(module)
  if (!existsSync(path)) throw new RangeError(`there is no module ${path}`)
  const exported = await load(path)
  const chosen = name === undefined ? (exported['default'] ?? exported) : exported[name]
  if (name !== undefined && chosen === undefined)
    throw new RangeError(`${path} exports no ${name}: it exports ${Object.keys(exported).join(', ') || 'nothing'}`)
  if (isExploreSubject(chosen)) return chosen
  const subject = { controllers: name === undefined ? exported['controllers'] : chosen, scenario: exported['scenario'] }
  if (isExploreSubject(subject)) return subject
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

function isExploreSubject(value: unknown): value is ExploreSubject {
  if (typeof value !== 'object' || value === null) return false
  const { controllers, scenario } = value as Partial<ExploreSubject>
  return (
    (typeof controllers === 'function' || Array.isArray(controllers)) &&
    typeof scenario === 'object' &&
    Array.isArray((scenario as Partial<ExploreSubject['scenario']>).steps)
  )
}

/*
 * Explores what a module exports, on all cores: what `evenkeel explore FILE` does.
 */

export type ExploreModuleOptions = Omit<ExploreOptions, 'controllers' | 'scenario' | 'module'>

/**
 * @param module a path, from the working folder, or a file: URL; `#name` at its end names an export
 * @throws {RangeError} when there is nothing to explore in it, or it cannot be played.
 */
export async function exploreModule(module: string | URL, options: ExploreModuleOptions = {}): Promise<Explored> {
  const { path, name } = parseModuleReference(module)
  const url = `${pathToFileURL(path).href}${name === undefined ? '' : `#${name}`}`
  return await explore({ ...options, ...(await loadExploreSubject(url)), module: url })
}
