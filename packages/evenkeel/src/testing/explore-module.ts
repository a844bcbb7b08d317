/**
 * `exploreModule`: explores the program and the scenario that a module exports, on all cores.
 *
 * `FILE` exports `controllers` and `scenario`, or exports `scenario` and calls `run`. `FILE#name` names one export: an object with both, or only the
 * controllers, which then run with the `scenario` of the module. `evenkeel explore FILE` is this function.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { importProgram, type LoadedProgram } from '#plane'
import { explore, type Explored, type ExploreOptions } from './explore.ts'

/** The program and its scenario. */
type ExploreSubject = Pick<ExploreOptions, 'controllers' | 'scenario'>

/** A file and the name of one of its exports. */
interface ModuleReference {
  readonly path: string
  readonly name: string | undefined
}

/** @param module a path relative to the working directory, or a file: URL; may end in `#name` */
export function parseModuleReference(module: string | URL): ModuleReference {
  const text = String(module)
  const at = text.lastIndexOf('#')
  const [file, name] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
  return { path: file.startsWith('file:') ? fileURLToPath(file) : resolve(file), name }
}

/** @throws {RangeError} when the module does not exist, does not load, or has no program and scenario. */
export async function loadExploreSubject(module: string | URL): Promise<ExploreSubject> {
  const { path, name } = parseModuleReference(module)
  if (!existsSync(path)) throw new RangeError(`module ${path} does not exist`)
  const { exports: exported, program } = await load(path)
  const chosen = name === undefined ? (exported['default'] ?? exported) : exported[name]
  if (name !== undefined && chosen === undefined)
    throw new RangeError(
      `${path} has no export ${name}; its exports are: ${Object.keys(exported).join(', ') || 'none'}`,
    )
  if (isExploreSubject(chosen)) return chosen
  const controllers = name === undefined ? (exported['controllers'] ?? program?.controllers) : chosen
  const subject = { controllers, scenario: exported['scenario'] }
  if (isExploreSubject(subject)) return subject
  const file = path.slice(path.lastIndexOf('/') + 1)
  throw new RangeError(
    !isControllers(controllers)
      ? `${path} has no scenario to explore: export controllers and scenario, or name an export that has both as ${file}#name`
      : `${path} has controllers but no scenario: export const scenario = { name, steps: [{ name, run: (user) => user.create(Kind, object) }] }`,
  )
}

async function load(path: string): Promise<LoadedProgram> {
  try {
    return await importProgram(pathToFileURL(path).href)
  } catch (error) {
    throw new RangeError(`cannot load module ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

function isExploreSubject(value: unknown): value is ExploreSubject {
  if (typeof value !== 'object' || value === null) return false
  const { controllers, scenario } = value as Partial<ExploreSubject>
  return (
    isControllers(controllers) &&
    typeof scenario === 'object' &&
    Array.isArray((scenario as Partial<ExploreSubject['scenario']>).steps)
  )
}

function isControllers(value: unknown): boolean {
  return typeof value === 'function' || Array.isArray(value)
}

export type ExploreModuleOptions = Omit<ExploreOptions, 'controllers' | 'scenario' | 'module'>

/**
 * @param module a path relative to the working directory, or a file: URL; `#name` at its end names an export
 * @throws {RangeError} when the module has no program and scenario, or the undisturbed scenario fails.
 */
export async function exploreModule(module: string | URL, options: ExploreModuleOptions = {}): Promise<Explored> {
  const { path, name } = parseModuleReference(module)
  const url = `${pathToFileURL(path).href}${name === undefined ? '' : `#${name}`}`
  return await explore({ ...options, ...(await loadExploreSubject(url)), module: url })
}
