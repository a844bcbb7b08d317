/**
 * Loads the modules of users: programs for `evenkeel up` and scenarios for `evenkeel explore`.
 *
 *     export const controllers = [{ for: Website, owns: [Deployment], reconcile }]     optional with serve
 *     export const kinds = [...]                     more kinds to install
 *     export const runnables = [...]                 runs alongside the controllers
 *     export async function serve({ client, signal, endpointsOf, onStop }) { return [{ name: 'page', url }] }
 *     export const scenario = { ... }                for `evenkeel explore`
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Kind } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import type { ControllerDeclaration } from 'evenkeel/controller'
import type { EndpointSettings, Manager, Runnable } from 'evenkeel/controller'
import { Failure } from './failure.ts'

/** A page of a program. */
export interface Address {
  readonly name: string
  readonly url: string
}

/** What `serve` of a program receives. */
export interface ServeContext {
  readonly client: Client
  readonly manager: Manager
  /** Aborts when the program stops: close ports then. */
  readonly signal: AbortSignal
  /** The endpoints for a manager that the program starts itself: `why` and `rules` read from it too. */
  endpointsOf(name: string): EndpointSettings
  /** Registers a function that runs, and is awaited, after the controllers have stopped. */
  onStop(call: () => unknown): void
}

export interface UserModule {
  readonly path: string
  readonly controllers: readonly ControllerDeclaration[]
  readonly kinds: readonly Kind[]
  readonly runnables: readonly (Runnable & { readonly needsLeader?: boolean })[]
  readonly serve: ((context: ServeContext) => Promise<readonly Address[]>) | undefined
}

/** @throws {Failure} `bad-file`, when the module does not exist, does not load or has no controllers. */
export async function loadModule(file: string, cwd: string): Promise<UserModule> {
  const exports = await importFile(file, cwd)
  const { controllers = [], kinds = [], runnables = [], serve } = exports
  if (!Array.isArray(controllers) || (controllers.length === 0 && typeof serve !== 'function'))
    throw new Failure('bad-file', `${file} exports neither controllers nor serve`, {
      hint: 'export const controllers = [{ for: Website, reconcile }]',
    })
  return {
    path: resolve(cwd, file),
    controllers: controllers as UserModule['controllers'],
    kinds: kinds as UserModule['kinds'],
    runnables: runnables as UserModule['runnables'],
    serve: typeof serve === 'function' ? (serve as UserModule['serve']) : undefined,
  }
}

async function importFile(file: string, cwd: string): Promise<Record<string, unknown>> {
  const path = resolve(cwd, file)
  if (!existsSync(path)) throw new Failure('bad-file', `file ${path} does not exist`)
  await readTypeScript(path)
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    throw new Failure('bad-file', `cannot load ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Resolves `FILE` or `FILE#EXPORT` for the Explorer and prepares its import. @throws {Failure} `bad-file` */
export async function resolveModule(word: string, folder: string): Promise<string> {
  const at = word.lastIndexOf('#')
  const [file, name] = at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at)]
  const path = resolve(folder, file)
  if (file === '' || !existsSync(path))
    throw new Failure('bad-file', file === '' ? 'name a module' : `file ${path} does not exist`, {
      hint: 'evenkeel explore scenario.ts',
    })
  await readTypeScript(path)
  return `${path}${name}`
}

/** Turns the RangeError of the Explorer into a failure. @throws {Failure} `bad-file` */
export async function orBadFile<T>(done: Promise<T>): Promise<T> {
  try {
    return await done
  } catch (error) {
    if (error instanceof RangeError) throw new Failure('bad-file', error.message, { cause: error })
    throw error
  }
}

/** Prepares the import of a TypeScript file: newer versions of Node load it, older ones need tsx. @throws {Failure} `bad-file` */
async function readTypeScript(path: string): Promise<void> {
  if (
    !/\.[cm]?ts$/.test(path) ||
    (process.features as { typescript?: unknown }).typescript ||
    process.execArgv.some((argument) => argument.includes('tsx'))
  )
    return
  try {
    const loader = pathToFileURL(createRequire(path).resolve('tsx')).href
    await import(loader)
    // Worker processes start with the flags of this process, and must load the same files.
    process.execArgv.push('--import', loader)
  } catch (error) {
    throw new Failure('bad-file', `Node ${process.versions.node} does not read TypeScript by itself`, {
      cause: error,
      hint: 'npm install --save-dev tsx, or use Node 22.18 or newer',
    })
  }
}
