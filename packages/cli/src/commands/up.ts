/**
 * `evenkeel up`: a control plane, the controllers of a module or several, and a live view of what they do.
 *
 * The server has a thread of its own: it answers while a controller computes or stops at a breakpoint.
 */
import { join, resolve } from 'node:path'
import type { Kind, Ready, RunProgramOptions } from 'evenkeel'
import { Client } from 'evenkeel/client'
import type { ControllerDeclaration } from 'evenkeel/controller'
import { keepHeapHeadroom } from 'evenkeel/unstable/base'
import type { Command, Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { Screen } from '../live-view.ts'
import { loadModule, type Address, type ServeContext, type UserModule } from '../modules.ts'
import { nearest } from '../parse.ts'
import { reportManager, supervisedBy, superviseProgram } from '../supervisor.ts'
import { portOf, serveOptions } from './serve.ts'

const { audit: _, ...withoutAudit } = serveOptions

export const up: Command = {
  name: 'up',
  about: 'run a control plane with the controllers of modules, and watch them live',
  usage: 'MODULE ...',
  words: { least: 1, most: Infinity },
  completes: 'files',
  options: {
    ...withoutAudit,
    watch: { type: 'boolean', about: 'start the program again when a file changes; objects and server stay' },
    only: { type: 'string', value: 'NAMES', about: 'run only these controllers, separated by commas' },
    cluster: { type: 'boolean', about: 'run on the cluster of the kubeconfig instead of a plane of its own' },
    plain: { type: 'boolean', about: 'print the log line by line, also in a terminal' },
  },
  details:
    'A module calls run, or exports controllers, and optionally kinds, runnables and serve. Objects stay in the data folder; Ctrl-C leaves nothing else behind.',
  examples: [
    'evenkeel up app.ts',
    'evenkeel up app.ts --watch',
    'evenkeel up app.ts --only website,database',
    'evenkeel up app.ts --memory --port 0',
    'evenkeel up app.ts --cluster',
  ],
  async run(call) {
    if (call.values.flag('watch')) return superviseProgram(call)
    const stopped = new DeferredValue<void>()
    try {
      const modules: UserModule[] = []
      // One after the other: a call of run belongs to the module that is being loaded.
      for (const file of call.words) modules.push(await loadModule(file, { cwd: call.io.cwd, until: stopped.value }))
      await runModules(modules, call)
      stopped.set()
      await Promise.all(modules.map(({ finished }) => finished))
    } finally {
      stopped.set()
    }
    return 0
  },
}

async function runModules(modules: readonly UserModule[], call: Invocation): Promise<void> {
  const { values, io, json } = call
  const { clock } = io
  const endHeadroom = keepHeapHeadroom(clock)
  const screen = new Screen(call)
  const listening = new DeferredValue<string | undefined>()
  const stops: (() => unknown)[] = []
  // Stops everything when a module cannot serve its page: a caller would wait for it forever.
  const failing = new AbortController()
  const programs = modules.flatMap(({ program }) => program ?? [])
  const signal = AbortSignal.any([io.signal, failing.signal, ...programs.flatMap((program) => program.signal ?? [])])
  let announced: Promise<void> | undefined
  const [{ runControllers }, { liveRules }] = await Promise.all([import('evenkeel'), import('evenkeel/testing')])
  const { log } = screen
  const { endpoints, ...declared } = optionsOfPrograms(programs)
  try {
    await runControllers(signal, {
      rules: liveRules({ log }),
      // The server is ours alone: there is no other replica.
      ...(!values.flag('cluster') && { leaderElection: false }),
      ...declared,
      ...declarationsOf(modules, values.text('only')),
      clock,
      log,
      ...placeOf(call),
      endpoints: {
        port: 0,
        ...endpoints,
        onListening: (url) => {
          listening.set(url)
          reportManager('program', url)
          if (endpoints) endpoints.onListening?.(url)
        },
      },
      onReady: (ready) => {
        const heard = Promise.all(programs.map(async (program) => program.onReady?.(ready)))
        announced = announce(ready, { modules, call, screen, endpoints: listening.value, stops, signal }).catch(
          (error: unknown) => {
            failing.abort(error)
          },
        )
        return heard.then(() => undefined)
      },
    })
  } finally {
    // A manager that does not listen by now never will, and no stop function may be added from here on.
    listening.set(undefined)
    await announced
    endHeadroom()
    await screen.stop()
    await Promise.allSettled(
      stops.map(async (stop) => {
        await stop()
      }),
    )
    if (!json && announced) io.stdout.write('Stopped.\n')
  }
  if (failing.signal.aborted) throw failing.signal.reason as Error
}

/** @throws {Failure} `usage`, for a name in `only` that no controller has. */
function declarationsOf(
  modules: readonly UserModule[],
  only: string | undefined,
): Pick<RunProgramOptions, 'controllers' | 'kinds' | 'runnables'> {
  const all = modules.flatMap(({ controllers }) => controllers)
  const controllers = chosenControllers(all, only)
  const others = all.filter((controller) => !controllers.includes(controller))
  return {
    controllers,
    // Objects of the others can be applied, although no controller looks after them.
    kinds: [...others.map(kindOf), ...modules.flatMap(({ kinds }) => kinds)],
    runnables: modules.flatMap(({ runnables }) => runnables),
  }
}

/** The kind of a controller, with the actions of its verbs. */
function kindOf({ for: kind, verbs = [] }: ControllerDeclaration): Kind {
  const actions = verbs.flatMap(({ action }) => action ?? [])
  return actions.length === 0 ? kind : { ...kind, actions: [...(kind.actions ?? []), ...actions] }
}

/** The cluster, or the server that this command starts. */
function placeOf({ values, io }: Invocation): Partial<RunProgramOptions> {
  const supervised = supervisedBy(io.env)
  const kubeconfig = supervised?.kubeconfig ?? values.text('kubeconfig')
  if (supervised || values.flag('cluster')) return { embedded: false, ...(kubeconfig !== undefined && { kubeconfig }) }
  return {
    embedded: true,
    serverThread: true,
    port: portOf(values.text('port') ?? '6443'),
    data: resolve(io.cwd, values.text('data') ?? 'data'),
    memory: values.flag('memory'),
  }
}

/** Options of calls of `run` that do not belong to this command: names, elections, webhooks and others. */
export function optionsOfPrograms(programs: readonly RunProgramOptions[]): Partial<RunProgramOptions> {
  const customResources = programs.flatMap((program) => program.customResources ?? [])
  return Object.assign(
    { customResources },
    ...programs.map(
      ({
        controllers: _controllers,
        kinds: _kinds,
        runnables: _runnables,
        process: _process,
        signal: _signal,
        customResources: _customResources,
        ...rest
      }) => rest,
    ),
  ) as Partial<RunProgramOptions>
}

/** @throws {Failure} `usage`, for a name that no controller has. */
function chosenControllers(
  all: readonly ControllerDeclaration[],
  only: string | undefined,
): readonly ControllerDeclaration[] {
  if (only === undefined) return all
  const nameOf = ({ name, for: { kind } }: ControllerDeclaration): string => name ?? kind.toLowerCase()
  const names = all.map(nameOf)
  const wanted = only.split(',').map((name) => name.trim())
  const unknown = wanted.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new Failure('usage', `no controller is called ${JSON.stringify(unknown)}: there are ${names.join(', ')}`, {
      hint: `--only ${nearest(unknown, names) ?? names[0] ?? ''}`,
    })
  return all.filter((controller) => wanted.includes(nameOf(controller)))
}

interface Announcing {
  readonly modules: readonly UserModule[]
  readonly call: Invocation
  readonly screen: Screen
  /** The address of the manager, which listens a moment after its creation. */
  readonly endpoints: Promise<string | undefined>
  /** Functions to call at the end. */
  readonly stops: (() => unknown)[]
  /** Aborts when everything stops. */
  readonly signal: AbortSignal
}

interface ServingOptions {
  readonly client: Client
  /** Functions to call at the end. */
  readonly stops: (() => unknown)[]
  readonly signal: AbortSignal
}

/** Calls `serve` of each module. @throws {Failure} `bad-file` */
export async function serveModules(
  { manager, embedded }: Ready,
  modules: readonly UserModule[],
  { client, stops, signal }: ServingOptions,
): Promise<readonly Address[]> {
  const context: ServeContext = {
    client,
    manager,
    signal,
    endpointsOf: (name) => ({
      port: 0,
      onListening: (at) => {
        reportManager(name, at)
        embedded?.managers?.add(name, at).catch(() => undefined)
      },
    }),
    onStop: (stop) => {
      stops.push(stop)
    },
  }
  return (await Promise.all(modules.map((module) => serveModule(module, context)))).flat()
}

/** Pages act for users, not for controllers: their requests must not count for the permissions and rules of a program. */
export function clientOf({ manager, kinds }: Ready): Client {
  return new Client({ transport: manager.transport, kinds, userAgent: 'evenkeel-cli', namespace: 'default' })
}

async function announce(ready: Ready, { modules, call, screen, endpoints, stops, signal }: Announcing): Promise<void> {
  const { manager, url, embedded, kinds } = ready
  const { io, json } = call
  const client = clientOf(ready)
  const served = await serveModules(ready, modules, { client, stops, signal })
  const addresses: readonly Address[] = [{ name: 'API server', url }, ...served]
  const kubeconfig = embedded?.kubeconfig ?? supervisedBy(io.env)?.kubeconfig
  const debug = await endpoints
  if (debug === undefined) return
  await embedded?.managers?.settled()
  if (json) io.stdout.write(`${JSON.stringify({ url, kubeconfig, manager: debug, addresses })}\n`)
  else
    await screen.begin({
      manager,
      client,
      kinds,
      heading: heading(addresses, { kubeconfig, io }),
    })
}

/** @throws {Failure} `bad-file`, with what it threw. */
async function serveModule({ path, serve }: UserModule, context: ServeContext): Promise<readonly Address[]> {
  try {
    return (await serve?.(context)) ?? []
  } catch (error) {
    throw new Failure(
      'bad-file',
      `serve of ${path} failed: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

function heading(
  addresses: readonly Address[],
  { kubeconfig, io: { cwd, env } }: { kubeconfig: string | undefined; io: Invocation['io'] },
): string {
  const width = Math.max(...addresses.map(({ name }) => name.length))
  const lines = addresses.map(
    ({ name, url, note }) => `  ${name.padEnd(width)}  ${url}${note === undefined ? '' : `  (${note})`}`,
  )
  const name = env['npm_execpath'] === undefined ? 'evenkeel' : 'npx evenkeel'
  const isHere = kubeconfig === join(cwd, 'data', 'kubeconfig')
  const next = isHere
    ? [`  In another terminal, in this folder: ${name} get KIND, ${name} why KIND/NAME, ${name} --help`]
    : []
  return [
    'Evenkeel is up. Ctrl-C stops it.',
    '',
    ...lines,
    ...(kubeconfig === undefined ? [] : ['', `  export KUBECONFIG=${kubeconfig}`, ...next]),
  ].join('\n')
}

/** A value that comes later. */
class DeferredValue<T> {
  readonly value: Promise<T>
  #resolve: (value: T) => void = () => undefined

  constructor() {
    this.value = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  set(value: T): void {
    this.#resolve(value)
  }
}
