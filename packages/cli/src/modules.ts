/**
 * Loads the modules of users: programs for `evenkeel up` and scenarios for `evenkeel explore`.
 *
 *     await run({ controllers: [websites] })         the program as it also runs by itself
 *
 * or, to share a process with other modules and to serve pages:
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
import type { Kind, KubeObject, RunProgramOptions } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import type { ControllerDeclaration } from 'evenkeel/controller'
import type { EndpointSettings, Manager, Runnable } from 'evenkeel/controller'
import { importProgram } from 'evenkeel/unstable/plane'
import { sleep, SystemClock } from 'evenkeel/unstable/base'
import type * as Workloads from '@evenkeel/workloads'
import { Failure } from './failure.ts'

/** A page of a program. */
export interface Address {
  readonly name: string
  readonly url: string
  /** Shown after the address: `port 8701 is taken`. @default nothing */
  readonly note?: string
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
  /** The options of its call of `run`. */
  readonly program: RunProgramOptions | undefined
  /** Of an application: what it exports as `app`, as its default, or as a list `objects`. */
  readonly objects: readonly KubeObject[]
  /** Resolves when the module has been evaluated, also what follows its call of `run`. */
  readonly finished: Promise<unknown>
}

interface LoadModuleOptions {
  readonly cwd: string
  /** When `run` of the module returns. @default at once */
  readonly until?: Promise<void>
  /** It may have objects of an application instead of controllers. @default false */
  readonly hasObjects?: boolean
}

/** How long a module may take to call `run` when it does not wait for it. */
const lateRunMs = 2_000

/** @throws {Failure} `bad-file`, when the module does not exist, does not load or has no controllers. */
export async function loadModule(
  file: string,
  { cwd, until, hasObjects = false }: LoadModuleOptions,
): Promise<UserModule> {
  const path = resolve(cwd, file)
  if (!existsSync(path)) throw new Failure('bad-file', `file ${path} does not exist`)
  await readTypeScript(path)
  const patience = (exports: object): Promise<void> | undefined =>
    ['controllers', 'serve', ...(hasObjects ? objectExports : [])].some((name) => name in exports)
      ? undefined
      : sleep(new SystemClock(), lateRunMs)
  const { exports, program, finished } = await importProgram(pathToFileURL(path).href, {
    ...(until && { until }),
    patience,
  }).catch((error: unknown) => {
    throw new Failure('bad-file', `cannot load ${file}: ${describeLoadError(error)}`, {
      cause: error,
      ...hintFor(error),
    })
  })
  const { controllers = [], kinds = [], runnables = [] } = program ?? exports
  const { serve } = exports
  const objects = hasObjects ? objectsOf(exports) : []
  if (!Array.isArray(controllers) || (controllers.length === 0 && typeof serve !== 'function' && objects.length === 0))
    throw new Failure('bad-file', `${file} neither calls run nor exports controllers or serve`, {
      hint: hasObjects
        ? 'export const app = defineApp(({ process }) => { process(NAME, { command: [...] }) })'
        : 'await run({ controllers: [websites] }), or export const controllers = [websites]',
    })
  return {
    path,
    controllers: controllers as UserModule['controllers'],
    kinds: kinds as UserModule['kinds'],
    runnables: runnables as UserModule['runnables'],
    serve: typeof serve === 'function' ? (serve as UserModule['serve']) : undefined,
    program,
    objects,
    finished,
  }
}

const objectExports = ['app', 'objects', 'default']

/** Of `app` and the default export an application or a list; of `objects` a list. */
function objectsOf(exports: Readonly<Record<string, unknown>>): readonly KubeObject[] {
  const found = new Set(objectExports.map((name) => exports[name]))
  return [...found].flatMap((value) => {
    const list: unknown = Array.isArray(value) ? value : (value as { readonly objects?: unknown } | undefined)?.objects
    return Array.isArray(list) ? (list as readonly KubeObject[]) : []
  })
}

/** The package `@evenkeel/workloads`, which not every project has. */
export type WorkloadsPackage = typeof Workloads

const workloadsName = '@evenkeel/workloads'

/**
 * That of the project, else one beside this program: for commands that run the code of the project anyway.
 *
 * @throws {Failure} `bad-file`, with what to install
 */
export async function loadProjectWorkloads(cwd: string): Promise<WorkloadsPackage> {
  try {
    const path = createRequire(resolve(cwd, 'package.json')).resolve(workloadsName)
    return (await import(pathToFileURL(path).href)) as WorkloadsPackage
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return loadOwnWorkloads({ hint: `npm install ${workloadsName}` })
}

/** The one beside this program: a command that only looks or deletes runs no code of the working directory. */
export async function loadOwnWorkloads({ hint }: { readonly hint: string }): Promise<WorkloadsPackage> {
  try {
    return await import('@evenkeel/workloads')
  } catch (error) {
    if (!isMissing(error)) throw error
    throw new Failure('bad-file', `the package ${workloadsName} is not installed`, { cause: error, hint })
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as { readonly code?: string }
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND'
}

/** The message, and the place in the program: a syntax error has it at the start of its stack. */
function describeLoadError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [first = ''] = (error.stack ?? '').split('\n')
  const isPlace = /:\d+$/.test(first) && !first.includes(error.message)
  return isPlace ? `${error.message} (${first.replace(/^file:\/\//, '')})` : error.message
}

/** A new package.json has no type: tsx compiles to CommonJS then, which has no await outside of functions. */
function hintFor(error: unknown): { hint?: string } {
  const needsType = /top-level await is currently not supported/i.test(error instanceof Error ? error.message : '')
  return needsType ? { hint: 'npm pkg set type=module' } : {}
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
    if (error instanceof RangeError) throw new Failure('bad-file', error.message, { cause: error, ...hintFor(error) })
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
