/**
 * Programs of users: modules that export controllers, and what else they need.
 *
 *     export const controllers = [{ for: Website, owns: [Deployment], reconcile }]     may be left out with serve
 *     export const kinds = [...]                     more kinds to install
 *     export const runnables = [...]                 what runs beside the controllers
 *     export async function serve({ client, signal, endpointsOf, onStop }) { return [{ name: 'page', url }] }
 *     export const scenario = { ... }                what `evenkeel explore` plays
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

/** Something a program shows to people. */
export interface Address {
  readonly name: string
  readonly url: string
}

/** What a program may use to serve pages of its own. */
export interface ServeContext {
  readonly client: Client
  readonly manager: Manager
  /** Aborts when everything stops: let go of ports then. */
  readonly signal: AbortSignal
  /** For a manager of the program's own: with these endpoints `why` and `rules` ask it as well. */
  endpointsOf(name: string): EndpointSettings
  /** Called when the controllers have stopped, and waited for: end what they started. */
  onStop(call: () => unknown): void
}

export interface UserModule {
  readonly path: string
  readonly controllers: readonly ControllerDeclaration[]
  readonly kinds: readonly Kind[]
  readonly runnables: readonly (Runnable & { readonly needsLeader?: boolean })[]
  readonly serve: ((context: ServeContext) => Promise<readonly Address[]>) | undefined
}

/** @throws {Failure} `bad-file`, when it is not there, cannot be loaded or has no controllers. */
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
  if (!existsSync(path)) throw new Failure('bad-file', `there is no file ${path}`)
  await readTypeScript(path)
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    throw new Failure('bad-file', `${file} could not be loaded: ${(error as Error).message}`, { cause: error })
  }
}

/*
 * Modules for the Explorer: `FILE` or `FILE#EXPORT`, and what is wrong with them in the words of a person.
 */

/** With its whole path; the file can be imported afterwards. @throws {Failure} `bad-file` */
export async function resolveModule(word: string, folder: string): Promise<string> {
  const at = word.lastIndexOf('#')
  const [file, name] = at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at)]
  const path = resolve(folder, file)
  if (file === '' || !existsSync(path))
    throw new Failure('bad-file', file === '' ? 'no module is named' : `there is no file ${path}`, {
      hint: 'evenkeel explore scenario.ts',
    })
  await readTypeScript(path)
  return `${path}${name}`
}

/** What cannot be explored is said by a RangeError. @throws {Failure} `bad-file` */
export async function orBadFile<T>(done: Promise<T>): Promise<T> {
  try {
    return await done
  } catch (error) {
    if (error instanceof RangeError) throw new Failure('bad-file', error.message, { cause: error })
    throw error
  }
}

/*
 * Modules in TypeScript: newer Nodes read them by themselves; older ones through tsx, if the project has it.
 */

/** Makes it possible to import this file. Does nothing for other files. @throws {Failure} `bad-file` */
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
    // Processes that we start to share the work must read the same files, and are started with our own flags.
    process.execArgv.push('--import', loader)
  } catch (error) {
    throw new Failure('bad-file', `Node ${process.versions.node} does not read TypeScript by itself`, {
      cause: error,
      hint: 'npm install --save-dev tsx, or use Node 22.18 or newer',
    })
  }
}
